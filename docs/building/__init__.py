"""What makes the site: pages from tables, figures, links, languages."""
