"""Queries about a verdict, for tests of the diagnosis."""
import json

from program import limpet
from tap import check


def diagnose(*data):
    """The exit code and the verdict as an object, with default settings."""
    ran = limpet("diagnose", "--json", "--quiet", *data)
    check(ran.code in (0, 1), ran)
    return ran.code, json.loads(ran.out)


def accused(verdict):
    """{component: cause}"""
    return {s["component"]: s["cause"] for s in verdict["suspects"]}


def absent(verdict):
    """{component: what is missing}"""
    return {s["component"]: s["missing"] for s in verdict["absent"]}


def check_nobody(what, *data):
    """No component is accused."""
    code, verdict = diagnose(*data)
    check(code == 0 and not verdict["suspects"], f"{what}: accused are {accused(verdict)}")


def check_only(what, component, *data):
    """This component is accused and no other; the suspect."""
    _, verdict = diagnose(*data)
    found = accused(verdict)
    check(list(found) == [component], f"{what}: {component} is at fault, accused are {found or 'nobody'}")
    return verdict["suspects"][0]
