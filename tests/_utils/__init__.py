"""What all packages use."""
