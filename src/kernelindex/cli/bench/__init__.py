"""What the commands of ``ki bench`` and ``ki try`` share: reading a question, running, showing."""
