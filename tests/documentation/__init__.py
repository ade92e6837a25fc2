"""The pages of the site, and what they say."""
