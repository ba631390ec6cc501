"""What makes a batch's numbers trustworthy: self-checks, sentinels, the floor, a control chart.

anchor      the piece of work that every batch measures beside its candidates
sentinels   trusted work of about 5, 50, 500 µs and 5 ms, whose A/A ratios give the floor
selfcheck   timer and cache flush prove themselves on work of known bytes and FLOPs
floor       the relative difference below which nothing is told, by duration
chart       whether a batch's values are what this runner's earlier batches had
"""
