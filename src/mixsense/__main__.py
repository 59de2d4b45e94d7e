"""Lets ``python -m mixsense`` run the command line."""

from mixsense.cli.main import main

main()
