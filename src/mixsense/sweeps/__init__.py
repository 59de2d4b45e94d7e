"""Many runs: grids of settings, seeds and methods, on all cores or on a Dask cluster."""
