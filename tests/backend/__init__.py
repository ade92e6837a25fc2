"""The K surface: tables of cases, and the tests that they drive."""
