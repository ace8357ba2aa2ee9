#!/usr/bin/env python3
"""Idle is not sick: OS disks with a request now and then and spares without any are nobody's suspects beside data disks
that are busy. Lost is a disk that worked and then stopped while its peers went on."""
import fleet
from program import limpet, run_tests, tests_of
from tap import check
from verdicts import accused, check_nobody, check_only, diagnose

SLOW = "s4/disk:sdd"


def named(data_disks, gap):
    """The slow data disk is named, and no idle one."""
    def test(directory):
        made = fleet.with_idle_disks(data_disks, seed=data_disks, slow=SLOW)
        if gap:
            made.idle_is_a_gap()
        data = made.write(directory)
        check_only(f"{data_disks} data disks", SLOW, data)
        ran = limpet("diagnose", data)
        check(ran.code == 1 and SLOW in ran.out.splitlines()[0], ran)
    test.__doc__ = (f"{data_disks} data disks, an OS disk and a spare per server: the slow disk is named, alone "
                    f"(idle is {'a gap' if gap else '0'})")
    return test


test_8 = named(8, False)
test_12 = named(12, False)
test_8_gaps = named(8, True)
test_12_gaps = named(12, True)


def test_sound(directory):
    """with nothing wrong idle disks are not accused"""
    check_nobody("idle disks", fleet.with_idle_disks(8, seed=3).write(directory))


def test_lost_path(directory):
    """a disk that worked and stopped while its peers go on is a lost path, and nobody else is"""
    made = fleet.with_idle_disks(8, seed=4)
    made.stop("s2/disk:sde", at_min=30)
    suspect = check_only("stopped", "s2/disk:sde", made.write(directory))
    check("lost" in suspect["cause"] or "path" in suspect["cause"], suspect["cause"])


def test_slow_before_lost(directory):
    """a slow disk ranks above one that stopped"""
    made = fleet.with_idle_disks(8, seed=5, slow=SLOW)
    made.stop("s2/disk:sde", at_min=30)
    _, verdict = diagnose(made.write(directory))
    check(list(accused(verdict)) == [SLOW, "s2/disk:sde"], accused(verdict))


if __name__ == "__main__":
    run_tests(tests_of(__name__))
