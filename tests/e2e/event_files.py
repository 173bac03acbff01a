"""TensorBoard's event files, written by hand: what TensorFlow 2 and torch's SummaryWriter write for scalars, texts, images, histograms. Source: the
formats of tensorflow/core/util/event.proto, summary.proto, tensor.proto; record framing as in lib/io/record_writer."""

import struct

import google_crc32c


def varint(number):
    out = b""
    while number > 0x7F:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


def field(number, content):
    """A length-delimited field."""
    content = content.encode() if isinstance(content, str) else content
    return varint(number << 3 | 2) + varint(len(content)) + content


def record(content):
    def masked(data):
        crc = google_crc32c.value(data)
        return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)
    length = struct.pack("<Q", len(content))
    return length + masked(length) + content + masked(content)


def event(wall_time, step, summary_value):
    """`summary_value`: of Summary.Value; None: the file's first event."""
    head = b"\x09" + struct.pack("<d", wall_time) + b"\x10" + varint(step)
    return record(head + (field(3, "brain.Event:2") if summary_value is None else field(5, field(1, summary_value))))


def scalar(tag, value):
    return field(1, tag) + b"\x15" + struct.pack("<f", value)  # simple_value


def text(tag, words):
    tensor = b"\x08\x07" + field(2, field(2, b"\x08\x01")) + field(8, words)  # DT_STRING, shape [1], string_val
    return field(1, tag) + field(8, tensor) + field(9, field(1, field(1, "text")))


def image(tag, png, width, height):
    """As TensorFlow 1: Summary.Image."""
    return field(1, tag) + field(4, b"\x08" + varint(height) + b"\x10" + varint(width) + b"\x18\x03" + field(4, png))


def histogram(tag, limits, counts):
    """As torch: HistogramProto; the smallest value is the first limit less 1."""
    def packed(number, numbers):
        return field(number, struct.pack(f"<{len(numbers)}d", *numbers))
    proto = b"\x09" + struct.pack("<d", limits[0] - 1) + b"\x11" + struct.pack("<d", limits[-1]) + packed(6, limits) + packed(7, counts)
    return field(1, tag) + field(5, proto)


def event_file(values, begin=1_700_000_000.0):
    """The bytes of a file. `values`: (step, summary value) in order."""
    return event(begin, 0, None) + b"".join(event(begin + 10 * step, step, value) for step, value in values)
