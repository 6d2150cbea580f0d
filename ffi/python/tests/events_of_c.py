"""Whether TensorBoard's own format takes the event file of the program in C: records, checksums, and the names that this package
gives the same numbers; and whether progress.csv has the same ones. `events_of_c.py FOLDER`."""

import struct
import sys
from pathlib import Path

import numpy as np
from tensorboardX.crc32c import crc32c
from tensorboardX.proto.event_pb2 import Event

import rlcore
from rlcore.tensorboard import LEFT_OUT, NAMES


def masked(data: bytes) -> int:
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


(file,) = Path(sys.argv[1]).glob("events.out.tfevents.*")
data, at, events = file.read_bytes(), 0, []
while at < len(data):
    length, head = struct.unpack("<QI", data[at : at + 12])
    body, (tail,) = data[at + 12 : at + 12 + length], struct.unpack("<I", data[at + 12 + length : at + 16 + length])
    assert head == masked(data[at : at + 8]) and tail == masked(body), f"checksums of the record at byte {at}"
    events.append(Event.FromString(body))
    at += 16 + length
assert events[0].file_version == "brain.Event:2"
values = [(event.step, value.tag, value.simple_value) for event in events for value in event.summary.value]
stats = [name for name in rlcore.PPO("CartPole-v1").stats if name not in LEFT_OUT]
known = {NAMES.get(name, "train/" + name) for name in stats}
assert {tag for _, tag, _ in values} <= known, {tag for _, tag, _ in values} - known
updates = [(step, value) for step, tag, value in values if tag == "train/n_updates"]
assert len(updates) > 1 and [value for _, value in updates] == list(range(1, len(updates) + 1)), updates
assert [step for step, _ in updates] == [updates[0][0] * (k + 1) for k in range(len(updates))], updates
lines = [line.split(",") for line in (Path(sys.argv[1]) / "progress.csv").read_text().splitlines()]
table = {(int(line[0]), tag, float(np.float32(text))) for line in lines[1:] for tag, text in zip(lines[0][1:], line[1:], strict=True) if text}
assert table == set(values), table ^ set(values)
print(f"the event file of C: {len(values)} numbers of {len(updates)} updates, by names of this package")
