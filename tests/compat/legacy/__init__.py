"""Names of old Python and old libraries."""
