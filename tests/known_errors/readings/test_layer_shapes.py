"""Inputs of another shape than a layer was built for."""

from tpudiag.known_errors.readings.layer_shapes import read


def said(text: str) -> str:
    reading = read(text, 0, len(text))
    return f"{reading.cause} {reading.fix}" if reading else ""


def test_size_of_an_axis() -> None:
    text = "layertransformer:expectedshape=(None,512),foundshape=(2,23)"
    assert "built for 512 in axis 1 and gets 23" in said(text)
    last = "expectedaxis-1ofinputshapetohavevalue512butreceivedinputwithshape(None,28,28)"
    assert "built for 512 in axis -1 and gets 28" in said(last)
    maps = "expectedaxis-1ofinputshapetohavevalue4608butreceivedinputwithshape(None,8192)"
    assert "as 4 x 4 to 3 x 3" in said(maps) and "tf.image.resize" in said(maps)
    assert "4 x 4" not in said(maps.replace("4608", "9").replace("8192", "16"))


def test_as_many_values_in_other_axes() -> None:
    rows = "expectedaxis-1ofinputshapetohavevalue784butreceivedinputwithshape(None,28,28)"
    assert "reshape(len(x), 784)" in said(rows) and "28 x 28" in said(rows)
    assert "reshape(len(x), 28, 28, 1)" in said("expectedshape=(None,28,28,1),foundshape=(8,784)")


def test_number_of_dimensions() -> None:
    assert "wants 4 dimensions" in said("expectedmin_ndim=4,foundndim=3")
    assert "one axis too many" in said("expectedndim=2,foundndim=3.Fullshapereceived:(8,16,4)")
    assert "axis 1, of length 1" in said(
        "expectedndim=3,foundndim=4.Fullshapereceived:(None,1,60,2)"
    )
    assert "wants 3 dimensions" in said("expectedshape=(None,8,8),foundshape=(2,8)")


def test_equal_shapes_tell_nothing() -> None:
    assert said("expectedshape=(None,8),foundshape=(2,8)") == ""


def test_second_batch() -> None:
    assert "batched twice: it comes" in said(
        "expectedshape=(None,224,224,3),foundshape=(32,None,224,224,3)"
    )


def test_dimensions_in_the_words_of_older_keras() -> None:
    text = "checkinginput:expectedconv2d_1_inputtohave4dimensions,butgotarraywithshape(60000,28,28)"
    assert "wants 4 dimensions" in said(text)


def test_a_layer_of_no_channels_was_built_from_half_of_one() -> None:
    text = "expectedaxis-1ofinputshapetohavevalue0butgotshape(None,4096,1)"
    assert "built for 0 in axis -1 and gets 1" in said(text) and "half of an odd" in said(text)
