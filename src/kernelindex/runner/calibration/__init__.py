"""What makes a batch's numbers trustworthy: self-checks, sentinels, the floor.

anchor      the piece of work that every batch measures beside its candidates
sentinels   trusted work of about 5, 50, 500 µs and 5 ms, whose A/A ratios give the floor
selfcheck   timer and cache flush prove themselves on work of known bytes and FLOPs, within the
            limits of ``kernelindex.selfchecks``
floor       the relative difference below which nothing is told, by duration
"""
