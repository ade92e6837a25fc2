"""Settings, and who chooses the engine."""
