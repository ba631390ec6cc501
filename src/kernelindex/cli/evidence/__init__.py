"""The commands of ``ki evidence``."""
