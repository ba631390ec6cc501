"""F2 in the tail of F1: a kernel that starts before the one before is over.

F1's last round of tiles is not full, and a multiprocessor without a tile was idle until the others
were done. By programmatic dependent launch F2's programs come in as F1's leave. They do not wait
for all of F1: F1 counts every piece of `act` that it has written, and F2 waits for the slots that
it reads. Since they start up to one tile of F1 apart, they take their work items from a counter.
An item is taken in order and only by a program that runs, and F1 waits for nobody, so nothing can
wait for ever. Measured with every kernel launched this way: 1.052 to 1.040 ms, forward in burst,
though the others, which wait for all of the kernel before, lose 0.006 ms by it. So only F2 is.

    done     int32 [cap]   pieces of each slot that are written; zeroed by F0, but for slots past
                           the last, which nobody is to wait for
    counter  int32 [1]     next work item; zeroed by F0
"""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl

from .ring import mbarrier

Q = gl.constexpr(4)  # items handed on and not yet read: at most 3, since an item fills the ring


@gluon.jit
def settle(done, slot, LATER: gl.constexpr):
    """Counts a piece of `slot`, if that is one, once all but the last LATER copies are written.

    Returns -1, for no slot is left to be counted.
    """
    if slot >= 0:
        # `tma.store_wait` waits until shared memory was read; this waits until the writes are
        # done, and the fence puts them, which are the async proxy's, before the release.
        gl.inline_asm_elementwise(
            f"cp.async.bulk.wait_group {LATER}; fence.proxy.async; // $0",
            "=r",
            [],
            dtype=gl.int32,
            is_pure=False,
            pack=1,
        )
        gl.thread_barrier()
        gl.atomic_add(done + slot, 1, sem="release", scope="gpu")
    return -1


@gluon.jit
def await_pieces(done, slot, goal):
    """Waits until `goal` pieces of a slot are written; TMA may read them then."""
    seen = gl.load(done + slot, volatile=True)
    while seen < goal:
        seen = gl.load(done + slot, volatile=True)
    gl.inline_asm_elementwise(
        "fence.acq_rel.gpu; fence.proxy.async; // $0",
        "=r",
        [],
        dtype=gl.int32,
        is_pure=False,
        pack=1,
    )


@gluon.jit
def new_queue():
    """Where a program's producer hands work items to its consumers: items, barriers."""
    items = gl.allocate_shared_memory(gl.int32, [Q, 1], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    ready = gl.allocate_shared_memory(gl.int64, [Q, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(Q):
        mbarrier.init(ready.index(i), count=1)
    return items, ready


@gluon.jit
def take(counter, queue, i):
    """The producer's i-th work item, handed on to the consumers."""
    items, ready = queue
    item = gl.atomic_add(counter, 1, sem="relaxed", scope="gpu")
    one: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    items.index(i % Q).store(gl.full([1], 0, gl.int32, one) + item)
    gl.thread_barrier()
    mbarrier.arrive(ready.index(i % Q), count=1)
    return item


@gluon.jit
def receive(queue, i):
    """A consumer's i-th work item."""
    items, ready = queue
    mbarrier.wait(ready.index(i % Q), (i // Q) & 1)
    one: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    return gl.sum(items.index(i % Q).load(one), 0)
