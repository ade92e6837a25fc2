"""Many devices and processes: distributions, their pictures, checkpoints."""
