"""`aster chat`: a conversation in the terminal."""

import argparse


def command(args: argparse.Namespace) -> int:
    from aster.cli import hangup
    from aster.cli.chat.opening import chat

    return hangup.run(chat(args))
