"""The domain: personas, what is said to them, what they keep and how they forget."""
