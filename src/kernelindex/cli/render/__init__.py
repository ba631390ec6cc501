"""Answers as text for people: tables, sentences, nothing that ranks."""
