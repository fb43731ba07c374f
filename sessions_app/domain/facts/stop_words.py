"""Words that only hold a sentence together, in several languages."""

# ruff: noqa: RUF001 (Cyrillic letters are what people write)

_ENGLISH = """
    a an the this that these those it its he she they them his her their you your i i'm i've i'd i'll me my mine
    myself we we're we've us our ours and or but so because if then than as at by for from in into of off on onto
    out over to up with without about after before during until since while is are was were be been being am has
    have had having do does did done doing don't doesn't didn't will would shall should can could can't cannot may
    might must not no yes also just only too very really still already currently now here there what which who whom
    whose when where why how all any both each few more most other some such own same got get go going please thanks
    thank ok okay sure hi hello hey that's it's there's let's isn't aren't wasn't won't wouldn't called name always
    one something ago near around under via between against
"""
_GERMAN = """
    der die das den dem des ein eine einen einem einer eines und oder aber weil wenn dass ob ich mich mir mein meine
    meinen meinem meiner du dich dir dein deine er sie es ihn ihm ihr ihre ihren wir uns unser unsere unseren sich
    ist sind war waren bin bist sein hat habe haben hatte wird werden wurde kann kein keine keinen nicht auch noch
    nur schon sehr mit ohne von vom zu zum zur in im an am auf aus bei für nach über um vor bis als wie so dann da
    hier was wer wo ja nein jede jeder jedes bitte danke heiße heisse heißen ihrer ihrem ihres dieser diese dieses
    diesem diesen
"""
_ROMANCE = """
    el la los las un una unos unas lo le les y o pero porque si que de del al en con sin por para se me mi mis te tu
    tus su sus yo nos nosotros nuestro nuestra es soy son está estoy están ser era fue ha he han tengo tiene hay muy
    más también como ya sí os um uma uns umas e ou mas do da dos das no na nas ao com sem eu meu minha meus minhas
    sou é tem tenho não il i gli uno ed ma di dal dalla della nel nella col senza per io mio mia miei mie sono è ho
    abbiamo des du et mais est sont suis être ai as avons avez ont je j'ai mes mon nous notre ce cette ces qui dans
    avec sans pour sur par pas ne au aux très aussi c'est à une s'appelle m'appelle llamo llama cada chaque ogni
"""
_RUSSIAN = """
    я мы он она они меня мне мой моя мои нас наш у в на и не с по за из для что это как
"""
ENGLISH_STOP_WORDS = frozenset(_ENGLISH.split())
STOP_WORDS = frozenset(f"{_ENGLISH} {_GERMAN} {_ROMANCE} {_RUSSIAN}".split())
