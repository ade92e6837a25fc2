"""What trains and keeps a graph in TensorFlow 1: optimizers, schedules, averages, checkpoints."""
