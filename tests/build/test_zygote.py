"""Talking to a zygote: what goes both ways at once."""

from __future__ import annotations

import threading
from pathlib import Path

from gompute.build.zygote import Zygote, ZygoteCommand

WORKERS = Path(__file__).parent / "workers"
UNITS, SIZE = 4, 8 << 20


def test_large_orders_and_large_reports_do_not_wait_for_each_other() -> None:
    answers: list[int] = []

    def talk() -> None:
        with Zygote.start(ZygoteCommand("talkative_worker", (WORKERS,))) as zygote:
            for number in range(UNITS):
                zygote.send({"order": "unit", "unit": number, "memory": None}, [bytes(SIZE)])
            while len(answers) < UNITS:
                message = zygote.receive()
                assert message is not None
                if message.body["report"] == "answer":
                    answers.append(message.body["answer"]["taken"])

    talking = threading.Thread(target=talk, daemon=True)
    talking.start()
    talking.join(60)
    assert not talking.is_alive(), "the two wait for each other"
    assert answers == [SIZE] * UNITS
