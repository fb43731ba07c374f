"""What people say about themselves and theirs, and what must not be: "my mother wears a knee brace", "she must not"."""

# ruff: noqa: RUF001 (typographic apostrophes and full-width marks are what people write)

import re

from sessions_app.domain.facts.speech import COURTESY, FIRST_PERSON, QUESTION_ENDS

_SUBJECT = r"(?:i|i['’]m|i['’]d|my|we|our|ich|mein|meine|wir|yo|mi|je|mon|ma)\b"
_CLAUSE_END = re.compile(
    r";|(?<!\d)[.!?]\s|[。！？；，…—\n]|"
    r",? (?:but|because(?! of\b)|although|though|so|which|aber|weil|denn|pero|porque|mais|parce que|car)\b|"
    rf",? (?:and|und|y|et) (?={_SUBJECT})|, (?={_SUBJECT})|"
    r", (?=(?:thank|thanks|danke|gracias|merci|and|und|please|can|could|would|do|is|what|how|also|bitte|kann|können|"
    r"por|puede|nous)\b)",
    re.IGNORECASE,
)
_ADVERBS = (
    r"(?:(?:also|always|never|only|usually|often|really|still|currently|just|actually|both|all|now|already|mainly|"
    r"strictly|definitely|absolutely|certainly|probably|quite|so|very) )*"
)
_DOING = (
    "travell?ing|flying|staying|living|working|moving|studying|using|taking|expecting|bringing|celebrating|recovering|"
    "training|learning|writing a|building|running|managing|arriving|leaving|returning"
)
_STATE = (
    rf"(?!(?:not |so |very |quite |a bit |a little )?(?:(?!{_DOING})\w+ing\b|sorry|sure|unsure|happy|glad|ready|here|"
    r"afraid|aware|interested|curious|confused|fine|okay|ok|good|done|willing|open|concerned|worried|frustrated|"
    r"disappointed|able|unable|supposed|about to|certain|grateful|excited|back|all set|in a hurry|surprised|told|"
    r"also|always|never|only|usually|often|really|still|currently|just|actually|now|already|mainly|"
    r"definitely|absolutely|certainly|probably|quite|so|very|"
    r"a bit|a little|kind of|under the impression|eligible|entitled|with you|on (?:the|your)|at (?:the|your)|no longer|"
    r"not)\b)\S"
)
_OBJECT = (
    r"(?:a|an|at least|no|my|our|one|two|three|four|\d+|only|extra|special|gluten|halal|kosher|vegan|vegetarian)\b"
)
_VERB = (
    r"(?:live|work|prefer|love|hate|dislike|own|speak|study|teach|eat|drink|smoke|wear|suffer|drive|come from|grew up|"
    r"was born|were born|moved|broke|lost|bought|married|paid|booked|ordered|graduated|weigh|belong|commute|"
    r"decided|agreed|dropped|refuse|quit|gave up|"
    r"(?<!would )(?<!['’]d )like (?!the idea|that|it\b|this)|use (?!the app|it\b|this|that)|"
    r"take (?!it\b|that|the first|the second)|"
    rf"(?:need|want) (?={_OBJECT})(?!a (?:few|moment|minute|second|refund|new|flight|human)))\b"
)
_NEGATED = (
    r"(?:(?:don['’]t|do not|didn['’]t|did not) (?:eat|drink|want|need|like|own|drive|fly|speak|smoke|take|wear|travel)|"
    r"(?:can['’]t|cannot|can not|can only|could never) (?:eat|drink|fly|drive|walk|climb|stand|sit|take|have|use|"
    r"travel|hear|swallow|tolerate|carry|lift|work|pay|leave|arrive)|can hardly \w+|"
    r"(?:won['’]t|will not|never want to) (?!be\b|have\b|need\b)\w+)\b"
)
_HAVING = (
    r"(?:have|['’]ve|has|had|have got|['’]ve got|has got|own) (?!to\b|(?:been|not|ever|spoken|taken|given|flown|heard|"
    r"found|chosen|also|just|already|never|any|some)\b|"
    r"(?:an?|the|no|another|one more|few|some|other|more|two|several) (?:\w+ )?(?:questions?|issues?|trouble|problems?|"
    r"idea|"
    r"concerns?|time|choice|clue|chance|requests?|details?|information)\b|\w+ed\b|\w+ing\b|"
    r"(?:it|that|this|seen|gotten|got|made|done|tried|checked|no\b idea|trouble|the option|the following)\b)"
)
_KIN = (
    "mother|mom|mum|father|dad|wife|husband|partner|son|daughter|sons|daughters|child|children|kid|kids|baby|brother|"
    "sister|grandmother|grandfather|grandma|grandpa|parents|aunt|uncle|cousin|niece|nephew|friend|friends|girlfriend|"
    "boyfriend|fianc[eé]e?|boss|colleague|dog|cat|team|family|doctor|neighbou?r"
)
_BEING = (
    r"(?:is|are|was|were|has|have|had|lives?|works?|speaks?|wears?|needs?|takes?|uses?|likes?|loves?|hates?|prefers?|"
    r"suffers?|eats?|drinks?|weighs?|plays?|runs?|broke|died|expires?|ends?|starts?|turns|travels?|cannot|can['’]t|"
    r"doesn['’]t|don['’]t|isn['’]t|aren['’]t|can only)\b"
)
_FORBIDDEN = r"(?:must (?:not|never)|mustn['’]t|may not|can['’]t|cannot|can not|can only|never) \w"
_SUBJECT_WORD = (
    r"(?!(?:and|or|so|but|since|then|because|as|that|this|these|those|it|you|there|which|who|what|why|to|no|yes)\b)"
    r"[\w'’-]+"
)
_EXCLUDED = (
    r"(?:must (?:not|never)|mustn['’]t|(?:is|are|was|were)(?:n['’]t| not| never)? (?:\w+ )?"
    r"(?:out of the question|off limits|forbidden|taboo|allergic|intolerant))\b"
)
_ENGLISH = re.compile(
    rf"\b(?:(?:i|we)(?:['’]m| am|['’]re| are| was| were) {_ADVERBS}{_STATE}|"
    rf"(?:i|we)(?:['’]d| would|['’]ve| have)? {_ADVERBS}(?:{_VERB}|{_NEGATED})|(?:i|we|he|she) ?{_ADVERBS}{_HAVING}|"
    rf"(?:he|she) {_FORBIDDEN}|(?:{_SUBJECT_WORD} ){{1,6}}?{_EXCLUDED}|"
    rf"(?:my|our) (?:[\w'’-]+ ){{0,3}}?(?:{_KIN}) (?!(?:and|or|in|on|at|from|to|with|for|who|is \w+ing)\b)\w|"
    rf"(?:my|our) (?:[\w'’#-]+ ){{1,4}}?{_BEING})",
    re.IGNORECASE,
)
_SIGNS_OF_ENGLISH = re.compile(
    r"\b(?:i|i['’]m|i['’]d|i['’]ll|i['’]ve|my|the|is|are|to|of|and|you|your|please|for|with|it|that|have|can|yes|we|our)\b",
    re.IGNORECASE,
)
# Before a statement these make it a condition or a question.
_CONDITION = re.compile(
    r"\b(?:if|whether|when|what|how|why|which|where|before|after|until|unless|than|wenn|falls|ob|si|cuando|quand)\b",
    re.IGNORECASE,
)
# What is wished, asked, thought or thanked for passes with the turn.
_PASSING = re.compile(
    r"\b(?:möchte\w*|will|wollen|würde\w*|könnte\w*|kann ich|können wir|hätte\w*|suche\w*|frage\w*|wollte\w*|weiß|"
    r"denke|"
    r"glaube|hoffe|danke|sehe|verstehe|nehme|bestätige|bitte|muss|müssen|soll\w*|finde|freue|bräuchte|hilf\w*|"
    r"darüber|davon|damit|dazu|daran|wieder|gerade|schon einmal|war \d+ Minuten|"
    r"quiero|quisiera\w*|querría|puedo|podría|gustaría|creo|sé|espero|busco|pienso|entiendo|gracias|confirmo|queremos|"
    r"puede|dime|ayuda\w*|voudrais|aimerais|veux|peux|pourrais|pense|crois|sais|espère|cherche|comprends|merci|confirme|"
    r"souhaite\w*|vorrei|voglio|posso|potrei|penso|credo|spero|cerco|capisco|grazie|quero|gostaria|poderia|acho|procuro|"
    r"entendo|obrigad\w|хочу|хотел\w*|хотим|могу|думаю|знаю|спасибо|надеюсь|ищу)\b"
    r"|我想|我要|我希望|我可以|我能|请|吗|呢|谢|觉得|知道|想要|帮我|现在|刚才|让我|好像|不太|商量|たい|ください|思|願|ありがと|でしょう|ますか|ですか|싶|주세요|까요|생각|감사",
    re.IGNORECASE,
)
_WISH = re.compile(
    r"\b(?:would|['’]d) (?:\w+ )?like\b|\babout (?:it|this|that)\b|\bsame thing\b|\bkeeps? asking\b|\bsaid\b",
    re.IGNORECASE,
)
_OTHERS = re.compile(
    r"\b(?:unsere\w*|uns|меня|нас|mes|mis)\b|[母父妻夫娘][はがも]|(?:息子|家族)[はがも]", re.IGNORECASE
)
# What must not be, of whomever it is said.
_MUST_NOT = re.compile(
    r"\bnicht in ?frage\b|\b(?:darf|dürfen|verträgt|vertragen) (?:\w+ )?(?:kein\w*|nicht|nie)\b|"
    r"\ballergi(?:sch|que|co|ca)\b|\balérgic[oa]\b|\bhors de question\b|"
    r"\bne (?:doit|doivent|peut|peuvent) (?:pas|jamais)\b|"
    r"\bno (?:debe|deben|puede|pueden) (?:tomar|comer|beber|llevar)\b|\bni hablar de\b|过敏|不能吃|アレルギー",
    re.IGNORECASE,
)
_GREETING = re.compile(
    r"(?:(?:hi|hello|hallo|guten (?:tag|morgen|abend)|hola|buen[oa]s (?:días|tardes|noches)|bonjour|ciao|olá|"
    r"你好|您好|こんにちは)"
    r"[\s,!.，。！]*)+",
    re.IGNORECASE,
)
_STATING = (FIRST_PERSON, _OTHERS, _MUST_NOT)
MOST_WORDS = 30


def statements_in(sentence: str) -> list[tuple[int, int]]:
    """Return where a user's sentence states something about the first person or theirs; a question states nothing."""
    if sentence.rstrip().endswith(QUESTION_ENDS):
        return []
    spans = (_statement(sentence, start, end) for start, end in _clauses(sentence))
    return [span for span in spans if span]


def _clauses(sentence: str) -> list[tuple[int, int]]:
    ends = [match.span() for match in _CLAUSE_END.finditer(sentence)]
    starts = [0, *(end for _, end in ends)]
    return list(zip(starts, [*(start for start, _ in ends), len(sentence)], strict=True))


def _statement(sentence: str, start: int, end: int) -> tuple[int, int] | None:
    clause = sentence[start:end]
    match = _ENGLISH.search(clause)
    if match and not _CONDITION.search(clause, 0, match.start()) and not _WISH.search(clause, match.start()):
        return start + match.start(), end
    if match or _SIGNS_OF_ENGLISH.search(clause) or not any(each.search(clause) for each in _STATING):
        return None
    passes = _PASSING.search(clause) and not _MUST_NOT.search(clause)
    if COURTESY.search(clause) or passes or _CONDITION.search(clause):
        return None
    greeting = _GREETING.match(clause.lstrip())
    skipped = len(clause) - len(clause.lstrip()) + (greeting.end() if greeting else 0)
    return (start + skipped, end) if len(clause.split()) <= MOST_WORDS else None
