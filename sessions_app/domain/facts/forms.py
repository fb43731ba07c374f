"""The forms in which dates, times, amounts, codes and addresses are written."""

# ruff: noqa: RUF001 (typographic apostrophes and full-width marks are what people write)

from sessions_app.domain.facts.calendars import MONTHS, WEEKDAYS

# Scripts without spaces may stand right beside a number or a code.
_LETTERS = "A-Za-z_\u00c0-\u052f"
_GROUPED = r"\d{1,3}(?:[.,'’\u00a0\u202f]\d{3}){1,5}(?:[.,]\d{1,2})?"
_NUMBER = rf"(?:{_GROUPED}|\d{{1,20}}(?:[.,]\d{{1,4}})?)(?!\d|[.,]\d)"
_MONTH = rf"(?:{'|'.join(sorted(MONTHS, key=len, reverse=True))})"
_WEEKDAY = rf"(?:{'|'.join(sorted(WEEKDAYS, key=len, reverse=True))})"
_ZONE = r"(?:\s(?:EST|EDT|PST|PDT|CST|CDT|MST|UTC|GMT|CET|CEST|MEZ|MESZ|BST|IST|JST)\b)?"
_CURRENCY = "US\\$|[$€£¥￥₹₩₽₺฿]|\\b(?:USD|EUR|GBP|CHF|JPY|CNY|RMB|CAD|AUD|SEK|NOK|DKK|PLN|INR|BRL|MXN)"
_UNIT = (
    rf"(?:{_CURRENCY})(?!\w)|[%‰]|°\s?[CF]?\b|"
    r"(?:kg|g|mg|km|m|cm|mm|ml|l|lbs?|oz|mph|GB|MB|TB|kWh|kW|Hz|[Ee]uros?|dollars?|Dollar|pounds?|pesos|francs?|"
    r"yen|kilos?|Kilo|miles?|percent|Prozent)\b|"
    "(?:公斤|千克|公里|厘米|米|元|块|美元|欧元|円|ドル|ユーロ|キロ|原|원|달러|岁|歲|歳|才|％)"
)
_NO_AIRLINE = r"(?:ID|NO|OK|AND|OR|PM|AM|TO|FOR|BY|AT|IN|ON)\b"
_HOUR = r"(?<![\d:.])(?:[01]?\d|2[0-3])"
_YEAR = r"(?:,?\s(?:de\s|del\s)?(?:19|20)\d\d\b)?"
# Tried in this order at each place of a text.
FORMS = {
    "email": r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}",
    "iso": r"(?<!\d)(?:19|20)\d\d(?P<iso_mark>[-/.])\d{1,2}(?P=iso_mark)\d{1,2}(?!\d)",
    "dotted": r"(?<![\d.])\d{1,2}\.\s?\d{1,2}\.\s?(?:(?:19|20)\d\d|\d\d)(?!\d|\.\d)",
    "dotted_short": (
        r"(?:(?<=\b[Aa]m )|(?<=\bvom )|(?<=\b[Bb]is )|(?<=\bzum )|(?<=\bden )|(?<=\b[Aa]b ))"
        r"\d{1,2}\.\s?\d{1,2}\.(?!\d)"
    ),
    "slashed": r"(?<![\d/])\d{1,2}(?P<slash>[/-])\d{1,2}(?P=slash)(?:(?:19|20)\d\d|\d\d)(?![\d/])",
    "day_month": rf"(?<![\d.,:])\d{{1,2}}(?:st|nd|rd|th|\.|º|er)?\s(?:of\s|de\s)?(?i:{_MONTH})\b{_YEAR}",
    "month_day": rf"\b(?i:{_MONTH})\b\.?\s\d{{1,2}}(?:st|nd|rd|th)?\b(?![:.,]\d){_YEAR}",
    "month_year": rf"\b(?i:{_MONTH})\b\.?\s(?:de\s|del\s)?(?:19|20)\d\d\b",
    "cjk_date": r"(?:\d{4}[年년]\s?)?\d{1,2}[月월]\s?\d{1,2}[日号號일]",
    "clock": rf"{_HOUR}:[0-5]\d(?::[0-5]\d)?(?![\d:])(?:\s?[AaPp]\.?[Mm]\b\.?)?(?:\sUhr\b)?{_ZONE}",
    "twelve": rf"(?<![\d:.])(?:1[0-2]|0?[1-9])\s?(?:[AaPp][Mm]\b|[ap]\.m\.){_ZONE}",
    "uhr": rf"{_HOUR}(?:\.[0-5]\d)?\s?Uhr\b(?:\s[0-5]\d\b)?",
    "heure": rf"{_HOUR}\s?h\s?[0-5]\d\b",
    "cjk_time": (
        r"(?:上午|下午|晚上|早上|中午|午前|午後|오전|오후)?\s?(?<!\d)"
        r"(?:[01]?\d|2[0-3])[点點时時시](?![间間])(?:\s?[0-5]?\d[分분]?|半)?"
    ),
    "weekday": rf"\b(?i:{_WEEKDAY})s?\b",
    "cjk_weekday": "(?:星期|礼拜|周)[一二三四五六日天]|[月火水木金土日]曜日?",
    "phone": rf"(?<![{_LETTERS}\d.-])(?:\+\d|\(?0\d)[\d ()/-]{{5,18}}\d(?!\d)",
    "card": rf"(?<![{_LETTERS}\d-])\d{{4}}(?:[ -]\d{{4}}){{2,4}}(?!\d)",
    "money": rf"(?:{_CURRENCY})\s?{_NUMBER}(?:[kKM]\b)?",
    "measure": rf"(?<![{_LETTERS}\d.,]){_NUMBER}\s?(?:{_UNIT})",
    "flight": rf"(?<![{_LETTERS}\d-])(?!{_NO_AIRLINE})[A-Z]{{2,3}}[ -]\d{{2,4}}(?![{_LETTERS}\d-])",
    "number": rf"(?<![{_LETTERS}\d.,]){_NUMBER}(?![{_LETTERS}])",
    "code": rf"(?<![{_LETTERS}\d#-])#?[A-Za-z0-9]{{1,40}}(?:[_-][A-Za-z0-9]{{1,40}}){{0,5}}(?![{_LETTERS}\d])",
}
