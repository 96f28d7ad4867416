"""The closed lists by which statements are recognised. Longer is not safer: a word belongs here
when it means the same thing in almost every sentence."""

from engine.text import word_set

# A letter that a name begins with.
CAPITAL = "[A-ZÀ-ÖØ-ÞĆČĐĞİŁŃŐŚŞŠŰŹŻŽ]"

# What people call each other, and the one word kept for it.
RELATIONS: dict[str, str] = {
    **{
        word: word
        for word in word_set(
            "sister brother mother father wife husband partner girlfriend boyfriend fiance spouse "
            "son daughter aunt uncle cousin niece nephew grandmother grandfather grandson "
            "granddaughter stepmother stepfather stepsister stepbrother stepson stepdaughter twin "
            "godmother godfather friend boss manager colleague roommate neighbour therapist "
            "doctor dentist teacher professor coach mentor landlord supervisor trainer dog cat "
            "puppy kitten horse rabbit parrot hamster snake turtle child mother-in-law "
            "father-in-law sister-in-law brother-in-law ex-wife ex-husband ex-girlfriend "
            "ex-boyfriend"
        )
    },
    "mom": "mother",
    "mum": "mother",
    "mama": "mother",
    "mommy": "mother",
    "dad": "father",
    "daddy": "father",
    "papa": "father",
    "sis": "sister",
    "bro": "brother",
    "hubby": "husband",
    "gf": "girlfriend",
    "bf": "boyfriend",
    "fiancé": "fiance",
    "fiancée": "fiance",
    "fiancee": "fiance",
    "auntie": "aunt",
    "grandma": "grandmother",
    "granny": "grandmother",
    "nana": "grandmother",
    "grandpa": "grandfather",
    "granddad": "grandfather",
    "grandad": "grandfather",
    "best friend": "best friend",
    "girl friend": "girlfriend",
    "coworker": "colleague",
    "co-worker": "colleague",
    "flatmate": "roommate",
    "housemate": "roommate",
    "neighbor": "neighbour",
    "stepmom": "stepmother",
    "stepdad": "stepfather",
    "tutor": "teacher",
    "pup": "puppy",
}

SIBLINGS = "sisters?|brothers?|siblings?|twin (?:sister|brother)s?"
CHILDREN = (
    "kids?|child|children|sons?|daughters?|boys|girls|toddlers?|grandchild|grandchildren|grandkids?"
)
PETS = (
    "dogs?|cats?|pupp(?:y|ies)|kittens?|pups?|horses?|pon(?:y|ies)|rabbits?|bunn(?:y|ies)|"
    "parrots?|hamsters?|guinea pigs?|turtles?|tortoises?|snakes?|lizards?|geckos?|goldfish|"
    "ferrets?|chickens?|goats?|budgies?|parakeets?|pets?|retrievers?|labradors?|poodles?|beagles?|"
    "corgis?|terriers?"
)
OWNED = (
    "car|bike|bicycle|motorbike|motorcycle|scooter|van|camper(?: van)?|truck|boat|house|flat|"
    "apartment|condo|cabin|cottage|farm|guitar|piano|violin|drum kit|keyboard|telescope|"
    "3d printer|shop|store|restaurant|caf[eé]|bakery|business|company|startup|studio|garden|"
    "greenhouse|allotment"
)

JOBS = (
    "accountant|actor|actress|adviser|advisor|analyst|anaesthetist|animator|archaeologist|"
    "architect|artist|assistant|astronomer|attorney|auditor|author|baker|banker|barber|barista|"
    "bartender|biologist|bookkeeper|botanist|bricklayer|builder|butcher|buyer|caregiver|carer|"
    "carpenter|cashier|chef|chemist|choreographer|cleaner|clerk|comedian|composer|consultant|"
    "contractor|cook|copywriter|counsellor|counselor|courier|curator|dancer|dealer|dentist|"
    "designer|detective|developer|dietitian|director|dj|doctor|driver|economist|editor|"
    "electrician|engineer|entrepreneur|farmer|filmmaker|firefighter|fisherman|florist|freelancer|"
    "gardener|geologist|goldsmith|grad student|guard|hairdresser|historian|housewife|illustrator|"
    "instructor|interpreter|investigator|janitor|jeweller|journalist|judge|lawyer|lecturer|"
    "librarian|lifeguard|locksmith|magician|manager|marketer|masseur|mathematician|mechanic|"
    "midwife|miner|musician|nanny|novelist|nurse|nutritionist|optician|painter|paralegal|"
    "paramedic|pastor|pediatrician|pharmacist|phd student|photographer|physicist|physiotherapist|"
    "pianist|pilot|plumber|poet|policeman|police officer|politician|postdoc|potter|priest|"
    "principal|producer|product manager|professor|programmer|psychiatrist|psychologist|publisher|"
    "realtor|receptionist|recruiter|reporter|researcher|sailor|salesman|scientist|screenwriter|"
    "sculptor|seamstress|secretary|shopkeeper|singer|social worker|soldier|solicitor|statistician|"
    "stockbroker|streamer|student|surgeon|surveyor|tailor|teacher|technician|therapist|trainer|"
    "translator|truck driver|tutor|vet|veterinarian|videographer|violinist|waiter|waitress|"
    "web developer|welder|writer|youtuber|zoologist"
)

DIETS = (
    "vegan|vegetarian|pescatarian|pescetarian|flexitarian|omnivore|halal|kosher|keto|paleo|"
    "gluten-free|dairy-free"
)
AILMENTS = (
    "asthma|diabetes|type (?:1|2|one|two) diabetes|arthritis|migraines?|epilepsy|adhd|autism|"
    "anxiety|depression|insomnia|cancer|celiac disease|coeliac disease|crohn'?s(?: disease)?|"
    "eczema|psoriasis|endometriosis|fibromyalgia|dyslexia|tinnitus|hay fever|high blood pressure|"
    "ibs|pcos|ptsd|ocd|bipolar disorder|lupus|multiple sclerosis|parkinson'?s|scoliosis|"
    "sleep apnea|a heart condition|a pacemaker|chronic (?:pain|fatigue|back pain)"
)
LANGUAGES = (
    "Arabic|Bengali|Catalan|Chinese|Croatian|Czech|Danish|Dutch|English|Esperanto|Estonian|"
    "Finnish|French|Gaelic|German|Greek|Hebrew|Hindi|Hungarian|Icelandic|Indonesian|Irish|Italian|"
    "Japanese|Korean|Latin|Lithuanian|Malay|Mandarin|Cantonese|Norwegian|Persian|Farsi|Polish|"
    "Portuguese|Punjabi|Romanian|Russian|Serbian|Slovak|Slovenian|Spanish|Swahili|Swedish|Tagalog|"
    "Tamil|Thai|Turkish|Ukrainian|Urdu|Vietnamese|Welsh|Yiddish|sign language|ASL"
)
PEOPLES = (
    "Albanian|Algerian|American|Argentinian|Armenian|Australian|Austrian|Bangladeshi|Belgian|"
    "Bolivian|Bosnian|Brazilian|British|Bulgarian|Cambodian|Canadian|Chilean|Chinese|Colombian|"
    "Croatian|Cuban|Czech|Danish|Dutch|Ecuadorian|Egyptian|English|Estonian|Ethiopian|Filipino|"
    "Finnish|French|Georgian|German|Ghanaian|Greek|Hungarian|Icelandic|Indian|Indonesian|Iranian|"
    "Iraqi|Irish|Israeli|Italian|Jamaican|Japanese|Jordanian|Kazakh|Kenyan|Korean|Latvian|"
    "Lebanese|Lithuanian|Malaysian|Mexican|Moroccan|Nepali|Nigerian|Norwegian|Pakistani|"
    "Palestinian|Persian|Peruvian|Polish|Portuguese|Romanian|Russian|Scottish|Serbian|Singaporean|"
    "Slovak|Slovenian|South African|South Korean|Spanish|Swedish|Swiss|Syrian|Taiwanese|Thai|"
    "Tunisian|Turkish|Ukrainian|Uruguayan|Venezuelan|Vietnamese|Welsh"
)
FAITHS = (
    "Catholic|Protestant|Christian|Muslim|Jewish|Buddhist|Hindu|Sikh|Mormon|Quaker|Orthodox|"
    "an? (?:atheist|agnostic|Catholic|Protestant|Christian|Muslim|Jew|Buddhist|Hindu|Sikh|Mormon|"
    "Quaker)|atheist|agnostic"
)
TRAITS = (
    "an? (?:introvert|extrovert|perfectionist|night owl|early bird|morning person|dog person|"
    "cat person|people person|feminist|pacifist|vegetarian at heart)|left-handed|right-handed|"
    "colou?r-?blind|introverted|extroverted|dyslexic|autistic|gay|lesbian|bisexual|pansexual|"
    "asexual|queer|transgender|trans|non-?binary|a (?:trans|transgender|gay|lesbian|bisexual|"
    "queer) (?:man|woman|person)"
)
INSTRUMENTS_AND_GAMES = (
    "guitar|bass|bass guitar|piano|violin|viola|cello|drums|flute|clarinet|saxophone|sax|trumpet|"
    "trombone|harp|ukulele|banjo|harmonica|keyboard|keyboards|accordion|organ|oboe|tuba|football|"
    "soccer|tennis|basketball|volleyball|baseball|softball|rugby|cricket|hockey|ice hockey|golf|"
    "badminton|squash|table tennis|ping pong|pickleball|handball|water polo|lacrosse|padel|chess|"
    "poker|bridge|go|darts|pool|snooker|video games|board games|dungeons and dragons|d&d|"
    "minecraft|fortnite"
)
MONTHS = (
    "January|February|March|April|May|June|July|August|September|October|November|December|Jan|"
    "Feb|Mar|Apr|Jun|Jul|Aug|Sept|Sep|Oct|Nov|Dec"
)
NOT_NAMES = word_set(
    f"{MONTHS}|{PEOPLES}|{LANGUAGES}".replace("|", " ")
    + " Monday Tuesday Wednesday Thursday Friday Saturday Sunday Christmas Easter Halloween"
    " Thanksgiving Mr Mrs Ms Miss Dr Sir Madam God Mom Dad Mum I It He She They We You This That "
    "The There Here What Who When Where Why How And But So Then If Not No Yes Is Was Are My Your "
    "His Her Our Their Also Today Tomorrow Yesterday Everyone Everybody Nobody Someone One TV "
    "Facebook Instagram Zoom Skype"
)
