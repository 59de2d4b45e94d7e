"""The figures: each is a file of its own, with its settings, its simulation, its picture and its summary.

>>> from mixsense.figures import FIGURES
>>> [figure.number for figure in FIGURES]
[1, 2, 3, 4, 5, 6, 7, 8]
"""

from mixsense.figures.make import FIGURES, make_figures

__all__ = ["FIGURES", "make_figures"]
