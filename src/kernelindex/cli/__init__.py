"""The command line ``ki``: renders answers, ranks nothing."""
