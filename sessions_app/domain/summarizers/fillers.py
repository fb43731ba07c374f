"""Signs, in several languages, of what a memory does not need: courtesy, lead-ins, advice, anecdotes.

COURTESY, ADVICE and ANECDOTE are looked for in a text in small letters, which is much faster.
"""

# ruff: noqa: RUF001 (typographic apostrophes and full-width marks are what people write)

import re

COURTESY = re.compile(
    r"\b(?:thank|thanks|you(?:'|’)re welcome|please let me know|let me know if|feel free|happy to help|glad to|"
    r"how (?:can|may) i (?:help|assist)|anything else|any (?:other|further|more) questions|"
    r"need (?:any )?(?:further|more) assistance|i apologi[sz]e|i(?:'|’)?m sorry for|safe travels|"
    r"have a (?:great|nice|good|wonderful)|i understand your|could you please|would you like|"
    r"please (?:confirm|provide)|to (?:assist|help) you|i can (?:help|assist)|i appreciate|(?:be )?in touch|"
    r"i (?:see|understand)\b|no (?:problem|worries)|contact you soon|back to you|sounds? (?:good|great|like a "
    r"plan)|makes sense|"
    r"good (?:point|idea)|let me (?:check|look|see|find)|i(?:(?:'|’)ll| will) (?:now )?(?:search|look|check|"
    r"need|try|proceed|go)|"
    r"just let me|happy to|inconvenience|vielen dank|danke|gerne|merci|gracias|grazie|obrigad)"
    r"|谢谢|ありがとう|感谢",
    re.IGNORECASE,
)
PHRASE = re.compile(
    r"\W*(?:hi|hello|hey|good (?:morning|evening|day)|thanks|thank you|great|ok|okay|sure|hallo|guten tag|danke|"
    r"bonjour|merci|hola|gracias|ciao|grazie|olá|你好|谢谢|こんにちは)\b",
    re.IGNORECASE,
)
_PHRASES = (
    "oh|ah|hm+|well|okay|ok|alright|all right|right|great|good|perfect|sure|yes|yeah|thanks|thank you|also|and|"
    "so|but|hi|hello|"
    "by the way|btw|just so you know|for the record|for your information|fyi|please note|for context|fwiw|"
    "(?:and |just |oh )*(?:one more|another|one) thing|in case (?:it|that|this) (?:matters|helps|is useful)|"
    "before i forget|"
    "as (?:i|we) (?:said|mentioned)(?: before)?|to be honest|actually|anyway|first of all|i understand|"
    "certainly|of course|"
    "absolutely|incidentally|besides|additionally|furthermore|moreover|(?:just )?to let you know|now that i "
    "think of it|"
    "while (?:i think of it|we(?:'|’)?re at it|i remember)|(?:speaking|talking) of (?:which|that)|since you "
    "ask(?:ed)?|"
    "on (?:another|a side|that) note|(?:side|quick) note|no (?:problem|worries)|"
    "übrigens|ach|ach ja|also|na ja|gut|ja|klar|danke|nebenbei|außerdem|bevor ich es vergesse|noch etwas|"
    "au fait|bon|bien|oui|d'accord|merci|en fait|d'ailleurs|ah oui|avant que j'oublie|"
    "por cierto|bueno|vale|sí|claro|gracias|además|antes de que se me olvide|una cosa más|a proposito|allora|"
    "aliás|bom"
)
_SAYING = (
    "(?:(?:i|we) (?:just |also |should |really |forgot to |want(?:ed)? to |have to |need to |must )+|please |"
    "you should |let me )"
    "(?:also )?(?:say|mention|add|tell you|let you know|note|point out|know)(?: that|:|,)"
)
LEAD_IN = re.compile(rf"\A\s*(?:(?:(?:{_PHRASES})\b[,:;.!–—-]+|{_SAYING})\s+)+(?=\S)", re.IGNORECASE)
# ", thanks" and the like at the end of a sentence.
TRAILER = re.compile(
    r"(?:,? (?:in case (?:you need it|you need to know|it (?:helps|matters)|that (?:helps|matters))|by the way|btw|"
    r"if that (?:helps|matters)|if you need it|just so you know|you know|please|thanks|thank you|i think|i "
    r"guess|sorry|"
    r"to be honest|if possible|übrigens|danke|bitte|merci|s'il vous plaît|por favor|gracias|por cierto))+(?=[.!?]?\Z)",
    re.IGNORECASE,
)
ADVICE = re.compile(
    r"\b(?:you (?:can|could|may|might|should|will want)|consider|make sure|try (?:to|not)|tips?|usually|typically|"
    r"in general|generally|for example|for instance|many|most|often|sometimes|depends|here (?:is|are)|keep in mind|"
    r"one (?:thing|way|option)|sie können|du kannst|meistens|oft|normalerweise|in der regel|zum beispiel|achten|"
    r"vous pouvez|généralement|souvent|par exemple|puede[ns]?|generalmente|a menudo|por ejemplo|normalmente)\b"
    r"|可以|通常|一般|例如|建议|できます|一般的|通常|例えば|ことが多",
    re.IGNORECASE,
)
CONJUNCTION = re.compile(
    r"\A(?:and|but|so|also|und|aber|et|mais|donc|y|pero|e|ma|mas)(?: then| also)?,? (?=\S)", re.IGNORECASE
)
# What was heard or happened by the way.
ANECDOTE = re.compile(
    r"\b(?:read (?:that|about|something|somewhere|an? )|heard|i saw|weather|coffee|weekend|slept|lunch|"
    r"breakfast|funny|laugh\w*|"
    r"last (?:week|month|year|night|summer|winter)|yesterday|the other (?:day|week)|years? ago|back then|used "
    r"to|once|"
    r"neighbou?rs?|colleagues?|reminds? me|apparently|supposedly|gelesen|gehört|wetter|kaffee|wochenende|"
    r"gestern|nachbar\w*|"
    r"letzte[snr]? (?:woche|monat|jahr)|lustig|angeblich|lu quelque part|entendu|temps qu'il|café|hier|"
    r"voisin\w*|collègue\w*|"
    r"leí|oí|ayer|vecin\w*|el otro día|el año pasado|tiempo hace)\b|天气|昨天|听说|邻居|周末|咖啡|天気|昨日|"
    r"聞いた|隣の|週末|コーヒー",
    re.IGNORECASE,
)
