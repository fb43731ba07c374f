"""Names of months and of days of the week in several languages."""

_MONTHS = (
    "january januar enero janvier gennaio janeiro jan ene janv jänner",
    "february februar febrero février febbraio fevereiro feb fév",
    "march märz marzo mars março mar mär mrz",
    "april abril avril aprile apr abr avr",
    "may mai mayo maggio maio",
    "june juni junio juin giugno junho jun giu",
    "july juli julio juillet luglio julho jul juil lug",
    "august agosto août aug",
    "september septiembre setiembre septembre settembre setembro sep sept",
    "october oktober octubre octobre ottobre outubro oct okt ott",
    "november noviembre novembre novembro nov",
    "december dezember diciembre décembre dicembre dezembro dec dez dic déc",
)
_WEEKDAYS = (
    "monday montag lunes lundi lunedì",
    "tuesday dienstag martes mardi martedì",
    "wednesday mittwoch miércoles mercredi mercoledì",
    "thursday donnerstag jueves jeudi giovedì",
    "friday freitag viernes vendredi venerdì",
    "saturday samstag sonnabend sábado samedi sabato",
    "sunday sonntag domingo dimanche domenica",
)
MONTHS = {name: number for number, names in enumerate(_MONTHS, 1) for name in names.split()}
WEEKDAYS = {name: number for number, names in enumerate(_WEEKDAYS, 1) for name in names.split()}
UNSPACED_WEEKDAYS = {"一": 1, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "日": 7, "天": 7} | {
    "月": 1, "火": 2, "水": 3, "木": 4, "金": 5, "土": 6,
}  # fmt: skip
_COUNTS = (
    "two zwei dos deux due dois duas 两 兩 二",
    "three drei tres trois tre três 三",
    "four vier cuatro quatre quattro quatro 四",
    "five fünf cinco cinq cinque 五",
    "six sechs seis sei 六",
    "seven sieben siete sept sette sete 七",
    "eight acht ocho huit otto oito 八",
    "nine neun nueve neuf nove 九",
    "ten zehn diez dix dieci dez 十",
    "eleven elf once onze undici",
    "twelve zwölf doce douze dodici doze",
)
COUNTS = {name: number for number, names in enumerate(_COUNTS, 2) for name in names.split()}
