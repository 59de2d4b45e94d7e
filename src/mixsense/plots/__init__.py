"""Pictures of recoveries, of fitted data and of sweeps: each function takes a result and returns matplotlib Axes."""

from mixsense.plots.lines import plot_lines
from mixsense.plots.sweep import plot_sweep
from mixsense.recovery.picture import plot_recovery

__all__ = ["plot_lines", "plot_recovery", "plot_sweep"]
