"""Contents that are decoded: pictures, raw bytes, tensors; and the shapes asked of them."""

from itertools import islice
from math import prod
from typing import Any

from tpudiag.sources.job.points import Call, Library, hooks, privates, table
from tpudiag.sources.job.points.library_objects import Operation, Shape, Tensor
from tpudiag.sources.job.tensorflow.graphs.graphs import upstream

from .text_files import SCOPE, SIZE, chosen, is_stand_in

_SMALL = 32
_FARTHEST = 400
"""Operations looked through from a tensor back to a stand-in."""
_RAW = 1024
"""Values that raw bytes decode to, until a shape asks for more."""


class Contents:
    """Hands decoders what they can decode, and gives the result the size that is asked for."""

    def __init__(self, tf: Library) -> None:
        self._tf = tf
        self._decoded = False
        """Whether a stand-in was decoded in a graph."""
        self._jpegs: dict[int, bytes] = {}
        hooks.around(table.PICTURE_DECODED, self._picture)
        hooks.around(table.JPEG_DECODED, self._jpeg)
        hooks.around(table.RAW_DECODED, self._raw)
        hooks.around(table.TENSOR_PARSED, self._tensor)
        hooks.around(table.RESHAPED, self._reshaped)

    def _drawn(self, side: int) -> bytes:
        """A picture, as JPEG."""
        if side not in self._jpegs:
            tf = self._tf
            with tf.init_scope():
                self._jpegs[side] = tf.io.encode_jpeg(tf.zeros([side, side, 3], tf.uint8)).numpy()
        return self._jpegs[side]

    def _size(self, simplest: list[int]) -> Any:
        """Sizes of a stand-in, until a shape is claimed of it."""
        constant = self._tf.constant(simplest, name="size")
        # A plain constant would be folded into the shape at once, and a later set_shape of
        # another size refused; behind this the shape stays open, of any rank.
        return self._tf.raw_ops.PlaceholderWithDefault(input=constant, shape=None)

    def _jpeg(self, original: Call, contents: object, *args: object, **kwargs: object) -> object:
        """Something is asked of a JPEG."""
        return original(chosen(self._tf, contents, self._drawn(SIZE)), *args, **kwargs)

    def _picture(self, original: Call, contents: object, *args: object, **kwargs: object) -> object:
        """A picture is decoded; its size can still be set where a shape asks for one."""
        tf = self._tf
        if tf.executing_eagerly():
            return self._jpeg(original, contents, *args, **kwargs)
        # In a pipeline it is given its size below, and thousands are decoded: a small one.
        picture: Any = original(chosen(tf, contents, self._drawn(_SMALL)), *args, **kwargs)
        with tf.name_scope(SCOPE):
            sides = tf.shape(picture)
            away = is_stand_in(tf, tf.convert_to_tensor(contents))
            size = tf.where(away, self._size([SIZE, SIZE]), sides[-3:-1])
            # Pictures that move have one dimension more, which only running tells.
            images = tf.reshape(picture, tf.concat([[-1], sides[-3:]], 0))
            sized = tf.raw_ops.ResizeNearestNeighbor(images=images, size=size)
            shape = tf.concat([sides[:-3], size, sides[-1:]], 0)
            sized = tf.raw_ops.Reshape(tensor=sized, shape=shape)
            if picture.shape.rank is not None:
                sized.set_shape([*[None] * (picture.shape.rank - 1), picture.shape[-1]])
            return self._seen(sized)

    def _raw(
        self, original: Call, input_bytes: object, out_type: object, *a: object, **kw: object
    ) -> object:
        """Raw bytes are decoded; the arguments have the names that they are given by."""
        tf = self._tf
        with tf.name_scope(SCOPE):
            count = tf.reduce_prod(self._size([_RAW])) * tf.as_dtype(out_type).size
            ones = tf.strings.reduce_join(tf.fill([count], b"\x01"))
        return self._seen(original(chosen(tf, input_bytes, ones), out_type, *a, **kw))

    def _tensor(
        self, original: Call, serialized: object, out_type: object, *a: object, **kw: object
    ) -> object:
        """A serialized tensor is parsed: what stands in has one dimension, until more are asked."""
        tf = self._tf
        with tf.name_scope(SCOPE):
            zeros = tf.io.serialize_tensor(tf.zeros(self._size([_RAW]), out_type))
        return self._seen(original(chosen(tf, serialized, zeros), out_type, *a, **kw))

    def _seen(self, tensor: Any) -> object:
        """A stand-in was decoded: in a graph, shapes that are set there may ask for its size."""
        if not self._tf.executing_eagerly():
            self._decoded = True
            hooks.around(table.SHAPE_SET, self._shape_set, type(tensor))
        return tensor

    def _shape_set(self, original: Call, tensor: Tensor, shape: object) -> object:
        """A shape is claimed: a stand-in behind the tensor takes its size."""
        tf, claimed = self._tf, self._tf.TensorShape(shape)
        size = None if tensor.shape.is_fully_defined() else self._behind(tensor, "size")
        if size is not None and claimed.rank:
            sides = [side or _SMALL for side in claimed.as_list()]
            of_picture = size.outputs[0].shape.as_list() == [2]
            if not of_picture or (claimed.rank == 3 and all(claimed.as_list()[:2])):
                made = tf.make_tensor_proto(sides[:2] if of_picture else sides, dtype=tf.int32)
                # The claim comes later in the script than the decoding: the constant that was
                # already put into the graph is changed, before the graph is first run.
                privates.SET_ATTRIBUTE.of(size)("value", tf.compat.v1.AttrValue(tensor=made))
        return original(tensor, shape)

    def _reshaped(
        self, original: Call, tensor: Tensor, shape: Shape, *args: object, **kw: object
    ) -> object:
        """A shape is asked for: a stand-in is cut or repeated to fit it.

        What a function of the pipeline is given may have been decoded by one before it.
        """
        tf = self._tf
        if tf.executing_eagerly() or not hasattr(tensor, "graph"):
            return original(tensor, shape, *args, **kw)
        asked: Any = shape if isinstance(shape, tf.TensorShape) else tf.get_static_value(shape)
        asked = [] if asked is None or any(map(tf.is_tensor, asked)) else asked
        sizes = [-1 if size is None else int(size) for size in asked]
        # A step's own Placeholders are batches, which a size that is left open fits.
        earlier = self._decoded and tensor.op.type == "Placeholder" and len(sizes) > 1
        earlier = earlier and (min(sizes) > 0 or tensor.graph.name.startswith("Dataset_"))
        count = prod(size for size in sizes if size > 0)
        settled = not sizes or (min(sizes) < 0 and count == 1) or 0 in sizes or sizes.count(-1) > 1
        settled = settled or (min(sizes) > 0 and tensor.shape.num_elements() == count)
        if not settled and (earlier or self._behind(tensor, "") is not None):
            flat = tf.raw_ops.Reshape(tensor=tensor, shape=[-1])
            have = tf.maximum(tf.size(flat), 1)
            # As many as the shape holds; where one size is left open, a multiple of the others.
            count *= -(-have // count) if min(sizes) < 0 else 1
            flat = tf.tile(flat, [count // have + 1])[:count]
            tensor = tf.raw_ops.Reshape(tensor=flat, shape=sizes)
        return original(tensor, shape, *args, **kw)

    def _behind(self, tensor: Tensor, name: str) -> Operation | None:
        """The stand-in's operation of this name that a tensor was made from; None for none."""
        near = islice(upstream(tensor), _FARTHEST)
        ours = (op for op in near if SCOPE in op.name)
        return next((op for op in ours if op.name.endswith(f"/{name}" if name else "")), None)
