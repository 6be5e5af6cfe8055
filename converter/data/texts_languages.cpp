// The built-in texts in languages other than English: data only. The first text of each language also calibrates.
#include "data/built_in_texts.h"

namespace bantam::convert {
namespace {

constexpr const char* kGerman[] = {
    "Guten Morgen, wie geht es Ihnen heute?",
    "Der Zug nach Hamburg fährt heute leider zwanzig Minuten später ab.",
    "Können Sie mir bitte sagen, wo die nächste Apotheke ist?",
    "Die Kinder spielen im Garten hinter dem Haus.",
    "Das Essen war sehr gut, aber die Bedienung war unfreundlich.",
    "Wir haben im letzten Sommer drei Wochen am Meer verbracht.",
    "Die Regierung hat ein neues Gesetz beschlossen.",
    "Ich möchte mein Passwort ändern.",
    "Am Montag bleibt das Museum geschlossen.",
    "Dieses Buch ist eines der besten, die ich je gelesen habe.",
    "Wie wird das Wetter morgen in Berlin?",
};

constexpr const char* kFrench[] = {
    "Où se trouve la gare la plus proche ?",
    "Le train pour Lyon partira avec vingt minutes de retard.",
    "Pouvez-vous me dire où se trouve la pharmacie la plus proche ?",
    "Les enfants jouent dans le jardin derrière la maison.",
    "Le repas était excellent, mais le service était trop lent.",
    "Nous avons passé trois semaines au bord de la mer.",
    "Le gouvernement a adopté une nouvelle loi.",
    "Je voudrais changer mon mot de passe.",
    "Le musée reste fermé le lundi.",
    "Ce livre est l'un des meilleurs que j'ai jamais lus.",
    "Quel temps fera-t-il demain à Paris ?",
};

constexpr const char* kSpanish[] = {
    "El niño come una manzana roja.",
    "El tren a Sevilla saldrá con veinte minutos de retraso.",
    "¿Puede decirme dónde está la farmacia más cercana?",
    "Los niños juegan en el jardín detrás de la casa.",
    "La comida estaba muy buena, pero el servicio fue lento.",
    "El verano pasado estuvimos tres semanas en la playa.",
    "El gobierno aprobó una nueva ley.",
    "Quiero cambiar mi contraseña.",
    "El museo permanece cerrado los lunes.",
    "Este libro es uno de los mejores que he leído.",
    "¿Qué tiempo hará mañana en Madrid?",
};

constexpr const char* kPortuguese[] = {
    "A chuva parou há pouco, mas o chão ainda está molhado.",
    "O comboio para o Porto vai partir com vinte minutos de atraso.",
    "Pode dizer-me onde fica a farmácia mais próxima?",
    "As crianças brincam no jardim atrás da casa.",
    "A comida estava muito boa, mas o serviço foi lento.",
    "No verão passado ficamos três semanas na praia.",
    "O governo aprovou uma nova lei.",
    "Quero mudar a minha senha.",
    "O museu permanece fechado na segunda-feira.",
    "Este livro é um dos melhores que já li.",
    "Como estará o tempo amanhã em Lisboa?",
};

constexpr const char* kItalian[] = {
    "Il treno per Napoli partirà con venti minuti di ritardo.",
    "Può dirmi dove si trova la farmacia più vicina?",
    "I bambini giocano nel giardino dietro la casa.",
    "Il cibo era molto buono, ma il servizio era lento.",
    "L'estate scorsa abbiamo passato tre settimane al mare.",
    "Il governo ha approvato una nuova legge.",
    "Vorrei cambiare la mia password.",
    "Il museo resta chiuso il lunedì.",
    "Questo libro è uno dei migliori che abbia mai letto.",
    "Che tempo farà domani a Roma?",
};

constexpr const char* kDutch[] = {
    "De trein naar Utrecht vertrekt vandaag twintig minuten later.",
    "Kunt u mij vertellen waar de dichtstbijzijnde apotheek is?",
    "De kinderen spelen in de tuin achter het huis.",
    "Het eten was heel goed, maar de bediening was traag.",
    "Vorige zomer waren we drie weken aan zee.",
    "De regering heeft een nieuwe wet aangenomen.",
    "Ik wil mijn wachtwoord veranderen.",
    "Het museum is op maandag gesloten.",
    "Dit boek is een van de beste die ik ooit heb gelezen.",
    "Wat voor weer wordt het morgen in Amsterdam?",
};

constexpr const char* kPolish[] = {
    "Żółta łódź płynie po jeziorze.",
    "Pociąg do Krakowa odjedzie dzisiaj z opóźnieniem.",
    "Czy może mi pan powiedzieć, gdzie jest najbliższa apteka?",
    "Dzieci bawią się w ogrodzie za domem.",
    "Jedzenie było bardzo dobre, ale obsługa była powolna.",
    "W zeszłym roku spędziliśmy trzy tygodnie nad morzem.",
    "Rząd przyjął nową ustawę.",
    "Chcę zmienić swoje hasło.",
    "Muzeum jest zamknięte w poniedziałek.",
    "Ta książka jest jedną z najlepszych, jakie czytałem.",
    "Jaka pogoda będzie jutro w Warszawie?",
};

constexpr const char* kTurkish[] = {
    "Ankara treni bugün yirmi dakika geç kalkacak.",
    "En yakın eczane nerede, söyler misiniz?",
    "Çocuklar evin arkasındaki bahçede oynuyor.",
    "Yemek çok güzeldi ama servis yavaştı.",
    "Geçen yaz üç hafta deniz kenarında kaldık.",
    "Hükümet yeni bir yasa kabul etti.",
    "Şifremi değiştirmek istiyorum.",
    "Müze pazartesi günü kapalı.",
    "Bu kitap okuduğum en iyi kitaplardan biri.",
    "Yarın İstanbul'da hava nasıl olacak?",
};

constexpr const char* kVietnamese[] = {
    "Tôi thích cà phê sữa đá.",
    "Chuyến tàu đi Huế hôm nay khởi hành muộn hai mươi phút.",
    "Anh có thể cho tôi biết hiệu thuốc gần nhất ở đâu không?",
    "Trẻ em đang chơi trong vườn sau nhà.",
    "Món ăn rất ngon nhưng phục vụ hơi chậm.",
    "Mùa hè năm ngoái chúng tôi ở biển ba tuần.",
    "Chính phủ đã thông qua một luật mới.",
    "Tôi muốn đổi mật khẩu của mình.",
    "Bảo tàng đóng cửa vào thứ hai.",
    "Đây là một trong những cuốn sách hay nhất tôi từng đọc.",
    "Ngày mai thời tiết ở Hà Nội thế nào?",
};

constexpr const char* kRussian[] = {
    "Сегодня хорошая погода.",
    "Поезд в Москву отправится сегодня на двадцать минут позже.",
    "Скажите, пожалуйста, где находится ближайшая аптека?",
    "Дети играют в саду за домом.",
    "Еда была очень вкусной, но обслуживание было медленным.",
    "Прошлым летом мы провели три недели на море.",
    "Правительство приняло новый закон.",
    "Я хочу изменить свой пароль.",
    "Музей закрыт в понедельник.",
    "Эта книга одна из лучших, которые я читал.",
    "Какая погода будет завтра в городе?",
};

constexpr const char* kGreek[] = {
    "Καλημέρα σε όλους",
    "Το τρένο για την Αθήνα θα φύγει με είκοσι λεπτά καθυστέρηση.",
    "Μπορείτε να μου πείτε πού είναι το πιο κοντινό φαρμακείο;",
    "Τα παιδιά παίζουν στον κήπο πίσω από το σπίτι.",
    "Το φαγητό ήταν πολύ καλό, αλλά η εξυπηρέτηση ήταν αργή.",
    "Πέρυσι το καλοκαίρι μείναμε τρεις εβδομάδες στη θάλασσα.",
    "Η κυβέρνηση ψήφισε έναν νέο νόμο.",
    "Θέλω να αλλάξω τον κωδικό μου.",
    "Το μουσείο είναι κλειστό τη Δευτέρα.",
    "Αυτό το βιβλίο είναι ένα από τα καλύτερα που έχω διαβάσει.",
    "Τι καιρό θα κάνει αύριο στην πόλη;",
};

constexpr const char* kJapanese[] = {
    "今日はとても暑いですね。",
    "東京行きの電車は二十分遅れて出発します。",
    "一番近い薬局はどこにあるか教えてください。",
    "子供たちは家の後ろの庭で遊んでいます。",
    "料理はとても美味しかったですが、サービスは遅かったです。",
    "去年の夏は三週間海で過ごしました。",
    "政府は新しい法律を決めました。",
    "パスワードを変更したいです。",
    "月曜日は博物館が休みです。",
    "この本は今まで読んだ中で一番良い本の一つです。",
    "明日の天気はどうですか。",
};

constexpr const char* kChinese[] = {
    "我们明天去北京。",
    "去上海的火车今天晚点二十分钟。",
    "请问最近的药店在哪里？",
    "孩子们在房子后面的花园里玩。",
    "饭菜很好吃，但是服务太慢了。",
    "去年夏天我们在海边住了三个星期。",
    "政府通过了一项新的法律。",
    "我想修改我的密码。",
    "博物馆星期一不开门。",
    "这是我读过的最好的书之一。",
    "明天的天气怎么样？",
};

constexpr const char* kKorean[] = {
    "오늘 날씨가 좋네요",
    "부산으로 가는 기차는 오늘 이십 분 늦게 출발합니다.",
    "가장 가까운 약국이 어디에 있는지 알려 주세요.",
    "아이들이 집 뒤의 정원에서 놀고 있습니다.",
    "음식은 아주 맛있었지만 서비스가 느렸습니다.",
    "작년 여름에 우리는 바다에서 삼 주를 보냈습니다.",
    "정부는 새로운 법을 통과시켰습니다.",
    "비밀번호를 바꾸고 싶습니다.",
    "박물관은 월요일에 문을 닫습니다.",
    "이 책은 내가 읽은 가장 좋은 책 중 하나입니다.",
    "내일 서울 날씨는 어떻습니까?",
};

constexpr const char* kArabic[] = {
    "صباح الخير",
    "سيغادر القطار إلى القاهرة اليوم متأخرا عشرين دقيقة.",
    "هل يمكنك أن تقول لي أين تقع أقرب صيدلية؟",
    "يلعب الأطفال في الحديقة خلف البيت.",
    "كان الطعام جيدا جدا ولكن الخدمة كانت بطيئة.",
    "في الصيف الماضي كنا ثلاثة أسابيع على البحر.",
    "وافقت الحكومة على قانون جديد.",
    "أريد تغيير كلمة المرور.",
    "المتحف مغلق يوم الاثنين.",
    "هذا الكتاب من أفضل الكتب التي قرأتها.",
    "كيف سيكون الطقس غدا في المدينة؟",
};

constexpr const char* kHindi[] = {
    "आज मौसम अच्छा है",
    "दिल्ली जाने वाली ट्रेन आज बीस मिनट देर से चलेगी।",
    "क्या आप बता सकते हैं कि सबसे पास की दुकान कहाँ है?",
    "बच्चे घर के पीछे बाग में खेल रहे हैं।",
    "खाना बहुत अच्छा था, लेकिन सेवा धीमी थी।",
    "पिछले साल हम तीन सप्ताह समुद्र के पास रहे।",
    "सरकार ने एक नया कानून पारित किया।",
    "मैं अपना नाम बदलना चाहता हूँ।",
    "संग्रहालय सोमवार को बंद रहता है।",
    "यह मेरी पढ़ी हुई सबसे अच्छी किताबों में से एक है।",
    "कल शहर में मौसम कैसा रहेगा?",
};

template <size_t kCount>
constexpr BuiltInGroup group(const char* language, Script script, const char* const (&texts)[kCount]) {
  return {language, script, TextKind::kStatement, texts, kCount};
}

constexpr BuiltInGroup kOtherGroups[] = {
    group("de", Script::kLatin, kGerman),       group("fr", Script::kLatin, kFrench),
    group("es", Script::kLatin, kSpanish),      group("pt", Script::kLatin, kPortuguese),
    group("it", Script::kLatin, kItalian),      group("nl", Script::kLatin, kDutch),
    group("pl", Script::kLatin, kPolish),       group("tr", Script::kLatin, kTurkish),
    group("vi", Script::kLatin, kVietnamese),   group("ru", Script::kAlphabet, kRussian),
    group("el", Script::kAlphabet, kGreek),     group("ja", Script::kSyllables, kJapanese),
    group("zh", Script::kIdeographs, kChinese), group("ko", Script::kSyllables, kKorean),
    group("ar", Script::kAlphabet, kArabic),    group("hi", Script::kAlphabet, kHindi),
};

}  // namespace

std::vector<BuiltInGroup> texts_of_other_languages() { return {std::begin(kOtherGroups), std::end(kOtherGroups)}; }

}  // namespace bantam::convert
