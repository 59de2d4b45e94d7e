"""Every constant that decides something when given data are fitted, each with its origin; see `mixsense.regression`."""

from __future__ import annotations

LARGEST_MISSING_SHARE = 0.5
"""With a larger share of rows with a missing value nothing is fitted: what is left is no longer the data.
Taste: never swept."""
CONSTANT = 1e-9
"""A column whose spread is below this share of its size is constant: the rest is rounding. A numerical guard."""
DEPENDENT = 1e-8
"""Columns are linearly dependent where the least eigenvalue of their correlations is below this.
A numerical guard: the root of the rounding of a product of two columns."""
GUESSED_NOISE = 0.2
"""The starts are cooled to this share of the spread of the answers, where the noise is not given; EM finds it then.
Swept: 0.5, 0.2 and 0.1 on seeds 0 to 3 of seven settings (benchmarks/fit.py) found the same models in all."""
TYPICAL_COEFFICIENTS = 5.0
"""How many coefficients of a model are expected to matter, whatever n.
Taste: never swept; as in the paper's figures."""
LARGEST_GUESSED_RATE = 0.5
"""At most this share of the coefficients is expected to matter. Taste: never swept."""
DENSE_SHARE = 0.6
"""Where this share of all coefficients is in, none is shrunk: small ones would be taken for none.
Taste: in the first dense setting of benchmarks/fit.py the error was 7 % above that of flexmix without it (seeds 1000 to
1019) and 3 % with 0.75 (seeds 2000 to 2011); 0.6 was tried on the seeds that the table shows."""
SAMPLE_ENTRIES = 1_000_000
"""Of a table with more entries than this, a sample of the rows finds the number of models and where they are, and all
rows then refine them. Taste: never swept. Time and memory of the starts grow with it."""
LEAST_SAMPLE = 4_000
"""The sample has at least this many rows, however many columns there are. Taste: never swept."""
OWN_NOISE_ESTABLISHED = 3.0
"""Evidence from which on each model has a noise of its own. Taste: as much as establishes one model."""
OWN_NOISE_WORTH_A_FIT = 0.5
"""A noise for each model is fitted if, at the models as they are, it explains at least this share of what it costs.
Taste: never swept. The fit took a fifth of the time of a small table."""
LEAST_FITTED_NOISE = 0.1
"""The noise of each model is at least this share of that of all: a model that goes through a few answers exactly would
have an infinite likelihood. Taste: never swept; constraints of this kind are Hathaway's (1985)."""
ALIKE_ERRORS = 1.0
"""Models that were asked for, and of which one explains the answers as well, are one if no coefficient differs by more
than this many standard errors. Taste: never swept. Of one model with six coefficients and 300 answers two come out
0.002 apart at most (seeds 0 to 5); with 30 coefficients and 1,000 answers the one that differs most does so by 4.6 to
6.6 errors on average, whether there are two models at 0.5 σ or one (seeds 400 to 405)."""
SIGNIFICANT_ERRORS = 5.0
"""A mean, a skewness, a correlation that is this many standard errors from where it should be is not chance.
Taste: chance goes so far once in a million."""
MISFIT_P_VALUE = 1e-3
"""A test of the model with a smaller p-value makes a result uncertain.
Taste: never swept; chance does so less than once in a thousand tables."""
ABOUT_EXACT = 2.0
"""Noise up to this many times what the regression takes for rounding is rounding, and no law is expected of it.
A numerical guard."""
TESTED_ROWS = 5_000
"""The test of the model looks at no more rows than about this: of a million rows it would find what nobody cares for.
Taste: never swept."""
FAR = 30.0
"""A number that is this many times as far from its column's median as `USUAL` are is told of. Taste: of a million
Gaussian numbers none is 4 times, of ten thousand log-normal ones 15 times; a unit wrong by 100 is about 50 times."""
USUAL = 0.9
"""The share of a column that says how far is usual. Taste: columns of which nine of ten are equal are not looked at."""
FEW_FAR = 3
"""Up to so many rows are far from all others; more are a part of the data. Taste: never swept."""
FAR_SHARE = 0.05
"""Or up to this share of the rows: -999 stands for a missing value in that many. Taste: never swept."""
FINE = 0.9
"""Answers are too fine for copies by chance if this share of the different rows has an answer of its own.
Taste: never swept."""
COPY = 1e-6
"""A column is the answers themselves if their correlation is 1 but for this. Taste: four digits, rounded, are less."""
FEW_ANSWERS = 3.0
"""A model with fewer answers beyond its coefficients than this may be outliers. Taste: never swept."""
LEAST_ROWS = 2
"""A table has at least this many rows. Derived: one row tells nothing about the noise."""
MOST_NAMED = 5
"""A note names at most this many columns. Taste: one line."""
LONGEST_NAME = 20
"""Letters of a name in a note. Taste: one line."""
MOST_LISTED = 10
"""A message lists at most this many columns. Taste: one line."""
LONGEST_CELL = 30
"""Letters of a cell, or of a name, in a message. Taste: one line."""
LARGEST_IN_COLUMN = 1e40
"""The largest number of a column is at most this, and at least 1 over this. Derived: fourth powers, summed, are
computed with, and floats end at 1e±308. Columns are brought to one unit before they are fitted."""
MOST_CELLS = 50_000_000
"""A file is read up to this many cells: a Parquet file of some hundred kB may have a billion. Taste: 400 MB as numbers,
and about half a minute to read."""
MOST_BYTES = 2**30
"""A CSV file is read up to this size, all at once. Taste: some GB of memory."""
ODD_WEIGHT = 5.0
"""Rows that count more often than this on average, or less than 1 over this, are told of: weights that sum to 1 are no
counts. Taste: never swept."""
LAPSES_WORTH_A_NOTE = 20.0
"""Lapses that would explain this many nats more are told of. Taste: twice what establishes a model; a table without
lapses hardly reaches 5."""
MOST_RATINGS = 21
"""Answers in steps that have more different values than this are no ratings. Taste: 0 to 10 in halves has as many."""
AT_AN_END = 0.1
"""Ratings of which this share is at one end are told of. Taste: with fewer, slopes are a few per cent too small."""
NEARLY_TOLD = 0.1
"""Where a combination of columns of length 1 has less than this share of the squares that independent ones have, least
squares of all columns are tried as a start. Taste: columns with a correlation of 0.9, or a constant beside numbers that
are far from 0; below that, coefficients that are renewed one at a time come there by themselves."""
