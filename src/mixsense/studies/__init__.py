"""Durable studies: a method that runs as its answers come, in any number of processes."""
