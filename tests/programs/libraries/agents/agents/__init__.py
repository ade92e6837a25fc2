"""Agents that learn by reinforcement."""
__version__ = '0.1.0'
