"""Pictures of recoveries and of sweeps: each function takes a result and returns matplotlib Axes."""

from mixsense.plots.sweep import plot_sweep
from mixsense.recovery.picture import plot_recovery

__all__ = ["plot_recovery", "plot_sweep"]
