"""Studies: methods that run as their answers come, in any number of processes, and never lose an answer."""
