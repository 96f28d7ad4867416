# ruff: noqa: RUF001  # letters of other scripts that look like Latin ones are meant
"""Greetings, thanks and other courtesies in many languages, which the gate leaves out.

Each phrase must equal a whole part of a sentence, as `fingerprint` folds it. English has patterns
in the gate instead. No phrase here can be content.
"""

from engine.text import fingerprint

# By reason.
COURTESIES: dict[str, tuple[str, ...]] = {
    "greeting": (
        # German, Dutch, Scandinavian, Finnish
        "hallo zusammen|hallo alle|hallo du|hallihallo|hi zusammen|grüß gott|grüezi|grüß dich|"
        "guten tag zusammen|guten morgen|guten abend|guten mittag|schönen guten tag|"
        "schönen guten morgen|schönen guten abend|morgen|mahlzeit|na du|tag|schönen tag|"
        "freut mich|sehr erfreut|goedemorgen|goedemiddag|goedenavond|goedendag|hoi|dag|"
        "god morgon|god dag|god kväll|hejsan|tjena|god morgen|god aften|god kveld|heisann|"
        "hei|moi|terve|hyvää päivää|hyvää huomenta|huomenta|hyvää iltaa|góðan daginn",
        # Romance
        "bonjour à tous|bonsoir|bonne journée|enchanté|enchantée|rebonjour|hola a todos|"
        "buenos días|buenas tardes|buenas noches|buenas|muy buenas|qué pasa|mucho gusto|"
        "encantado|encantada|buongiorno a tutti|buonasera|buon pomeriggio|salve|piacere|"
        "boa noite|bom dia a todos|oi|oi tudo bem|prazer|bună|bună ziua|bună dimineața|"
        "bună seara|bon dia|bona tarda",
        # Slavic, Baltic, Hungarian, Greek, Turkish
        "доброе утро|добрый день|добрый вечер|приветик|привет всем|здравствуй|добрий день|"
        "доброго ранку|вітаю|привіт|dzień dobry|dobry wieczór|cześć|witam|witaj|siema|"
        "dobrý den|dobré ráno|dobrý večer|ahoj|čau|nazdar|dobrý deň|zdravo|dobar dan|"
        "dobro jutro|dobro veče|dobra večer|bok|здравей|здравейте|labas|sveiki|tere|"
        "jó napot|jó napot kívánok|jó reggelt|jó estét|szia|sziasztok|helló|"
        "γεια|γεια σου|γεια σας|καλημέρα|καλησπέρα|χαίρετε|merhaba|selam|günaydın|"
        "iyi akşamlar|iyi günler|selamlar",
        # Semitic, Iranian, Indian
        "مرحبا|السلام عليكم|وعليكم السلام|أهلا|أهلا وسهلا|صباح الخير|صباح النور|مساء الخير|"
        "سلام|درود|صبح بخیر|عصر بخیر|שלום|בוקר טוב|ערב טוב|צהריים טובים|היי|"
        "नमस्ते|नमस्कार|प्रणाम|सुप्रभात|राम राम|शुभ संध्या|নমস্কার|হ্যালো|வணக்கம்|నమస్తే|"
        "ನಮಸ್ಕಾರ|നമസ്കാരം|ਸਤ ਸ੍ਰੀ ਅਕਾਲ|السلام علیکم",
        # East and South-East Asia, Swahili
        "こんにちは|こんばんは|おはよう|おはようございます|はじめまして|初めまして|"
        "よろしくお願いします|どうぞよろしくお願いします|お久しぶりです|久しぶり|ただいま|"
        "おかえり|おかえりなさい|もしもし|やあ|どうも|お疲れ様です|お疲れさまです|"
        "你好|您好|大家好|早上好|早安|下午好|晚上好|嗨|哈喽|喂|幸会|好久不见|"
        "안녕|안녕하세요|안녕하십니까|여보세요|반갑습니다|만나서 반갑습니다|좋은 아침|"
        "좋은 아침이에요|สวัสดี|สวัสดีครับ|สวัสดีค่ะ|หวัดดี|หวัดดีครับ|หวัดดีค่ะ|"
        "xin chào|chào|chào bạn|chào anh|chào chị|chào buổi sáng|halo|selamat pagi|"
        "selamat siang|selamat sore|selamat malam|apa kabar|hujambo|habari|jambo|"
        "kumusta|magandang umaga",
    ),
    "farewell": (
        "auf wiedersehen|bis bald|bis später|bis morgen|bis dann|mach's gut|gute nacht|"
        "schlaf gut|schönes wochenende|schönen abend|schönen abend noch|tot ziens|doei|"
        "tot morgen|hej då|vi ses|ha det|farvel|hei hei|näkemiin|moi moi|"
        "à bientôt|à demain|à plus|bonne nuit|bonne soirée|hasta mañana|hasta pronto|"
        "nos vemos|buenas noches|arrivederci|a presto|a domani|buonanotte|até logo|"
        "até amanhã|até mais|la revedere|пока|до свидания|до завтра|спокойной ночи|"
        "до побачення|do widzenia|do zobaczenia|na razie|dobranoc|na shledanou|"
        "viszontlátásra|szép napot|αντίο|καληνύχτα|görüşürüz|hoşça kal|iyi geceler|"
        "مع السلامة|إلى اللقاء|تصبح على خير|خداحافظ|שלום שלום|להתראות|לילה טוב|"
        "अलविदा|फिर मिलेंगे|शुभ रात्रि|さようなら|じゃあね|またね|また明日|おやすみ|"
        "おやすみなさい|失礼します|お先に失礼します|バイバイ|再见|拜拜|明天见|晚安|"
        "안녕히 가세요|안녕히 계세요|잘 자|또 봐요|ลาก่อน|แล้วเจอกัน|ราตรีสวัสดิ์|"
        "tạm biệt|sampai jumpa|selamat tinggal|kwaheri",
    ),
    "thanks": (
        "danke schön|danke sehr|vielen dank|herzlichen dank|danke dir|dankeschön|"
        "tausend dank|bitte schön|bitteschön|gern geschehen|gerne|keine ursache|kein problem|"
        "dank je|dank je wel|dank u wel|bedankt|graag gedaan|tack|tack så mycket|takk|"
        "tusen takk|mange tak|kiitos|kiitos paljon|ole hyvä|merci beaucoup|merci bien|"
        "je vous en prie|de rien|muchas gracias|mil gracias|grazie mille|prego|"
        "muito obrigado|muito obrigada|mulțumesc|спасибо|большое спасибо|спасибо большое|"
        "пожалуйста|дякую|dziękuję|dzięki|dziękuję bardzo|proszę|děkuji|díky|ďakujem|"
        "hvala|благодаря|köszönöm|köszi|ευχαριστώ|ευχαριστώ πολύ|παρακαλώ|teşekkürler|"
        "teşekkür ederim|rica ederim|sağ ol|شكرا|شكرا جزيلا|عفوا|ممنون|متشکرم|"
        "תודה|תודה רבה|בבקשה|धन्यवाद|शुक्रिया|बहुत धन्यवाद|ありがとう|"
        "ありがとうございます|ありがとうございました|どうもありがとう|"
        "どうもありがとうございます|どういたしまして|すみません|谢谢|谢谢你|谢谢您|"
        "多谢|不客气|不用谢|감사합니다|고마워|고마워요|고맙습니다|천만에요|"
        "ขอบคุณ|ขอบคุณครับ|ขอบคุณค่ะ|ขอบใจ|ไม่เป็นไร|cảm ơn|cảm ơn bạn|terima kasih|"
        "sama sama|asante|salamat",
    ),
    "acknowledgment": (
        "ja klar|na klar|alles klar|in ordnung|stimmt|genau so|jawohl|klar|natürlich|"
        "einverstanden|passt|okidoki|oui bien sûr|bien sûr|ça marche|entendu|claro que sí|"
        "de acuerdo|por supuesto|certo|va bene|d'accordo|com certeza|tá bom|да|нет|"
        "хорошо|ладно|конечно|понятно|ясно|так|ні|добре|tak|nie|dobrze|jasne|oczywiście|"
        "ano|ne|dobře|jasně|igen|nem|jó|rendben|ναι|όχι|εντάξει|evet|hayır|tamam|peki|"
        "نعم|لا|حسنا|طيب|بله|نه|باشه|כן|לא|בסדר|हाँ|हां|नहीं|ठीक है|अच्छा|जी|"
        "はい|いいえ|うん|ううん|そうです|そうですね|そうですか|わかりました|分かりました|"
        "了解|了解です|了解しました|なるほど|大丈夫です|いいですね|好|好的|好吧|是|是的|"
        "对|嗯|行|可以|明白|知道了|没问题|네|예|아니요|아니|응|좋아요|그래|그래요|"
        "알겠습니다|알겠어요|ใช่|ไม่|ได้|ครับ|ค่ะ|โอเค|vâng|dạ|không|được|ya|tidak|baik|"
        "ndiyo|hapana|sawa",
    ),
    "small_talk": (
        "wie geht's|wie geht es dir|wie geht es ihnen|wie geht's dir|wie geht's euch|"
        "und dir|und ihnen|und selbst|was gibt's neues|was machst du|hoe gaat het|"
        "hoe gaat het met je|hur mår du|hvordan går det|mitä kuuluu|comment ça va|"
        "comment vas tu|comment allez vous|ça va bien|et toi|et vous|quoi de neuf|"
        "cómo estás|cómo está|qué tal estás|y tú|come va|come sta|e tu|como vai|"
        "como você está|ce mai faci|как дела|как ты|как поживаешь|як справи|jak się masz|"
        "co słychać|jak se máš|hogy vagy|τι κάνεις|nasılsın|nasılsınız|ne haber|"
        "كيف حالك|كيف الحال|حالت چطوره|מה שלומך|מה נשמע|מה קורה|आप कैसे हैं|कैसे हो|"
        "क्या हाल है|お元気ですか|元気ですか|元気|調子はどう|调子はどうですか|"
        "你好吗|你怎么样|最近怎么样|吃了吗|잘 지내세요|잘 지냈어요|어떻게 지내세요|"
        "สบายดีไหม|เป็นอย่างไรบ้าง|bạn khỏe không|apa kabarmu",
    ),
}

REASON_BY_COURTESY: dict[str, str] = {
    folded: reason
    for reason, lists in COURTESIES.items()
    for phrases in lists
    for phrase in phrases.split("|")
    if (folded := fingerprint(phrase))
}
