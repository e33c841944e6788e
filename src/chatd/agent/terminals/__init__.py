"""Terminals for people: programs on a pseudo terminal that survive a reload of the page that shows them."""
