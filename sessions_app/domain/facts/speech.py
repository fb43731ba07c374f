"""How people speak of themselves, ask, and are polite."""

# ruff: noqa: RUF001 (typographic apostrophes and full-width marks are what people write)

import re

FIRST_PERSON = re.compile(
    r"\b(?:(?:i|me|my|mine|we|our|us|ich|mir|mich|mein|meine|meinem|meinen|wir|unser|je|mon|ma|mes|nous|notre|yo|mi|mis|"
    r"nosotros|io|mio|mia|noi|eu|meu|minha|nós|я|мне|мой|моя|мы|наш)\b|"
    r"(?:i'm|i've|i'd|i'll|i’m|i’ve|i’d|i’ll|we're|we've|j'ai|j’ai|nuestr))|我|私|僕|俺|나는|저는|제",
    re.IGNORECASE,
)
COURTESY = re.compile(
    r"\b(?:thank|thanks|you(?:'|’)re welcome|please let me know|let me know if|feel free|happy to help|glad to|"
    r"how (?:can|may) i (?:help|assist)|anything else|any (?:other|further|more) questions|"
    r"need (?:any )?(?:further|more) assistance|i apologi[sz]e|i(?:'|’)?m sorry for|safe travels|"
    r"have a (?:great|nice|good|wonderful)|i understand your|could you please|would you like|"
    r"please (?:confirm|provide)|to (?:assist|help) you|vielen dank|danke|gerne|merci|gracias|grazie|obrigad)"
    r"|谢谢|ありがとう|感谢",
    re.IGNORECASE,
)
QUESTION_ENDS = ("?", "？", "؟")
