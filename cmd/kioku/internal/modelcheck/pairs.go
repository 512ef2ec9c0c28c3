package modelcheck

// pairs are sentences of this project that say the same in other words, by language. Those of a language have the same six subjects,
// so that the languages can be compared.
var pairs = []struct {
	language string
	said     [][2]string
}{
	{"en", [][2]string{
		{"Keep the laptop from going to sleep.", "How do I make my notebook computer stay awake?"},
		{"Customers are refunded within two weeks.", "Can I get my money back?"},
		{"Our daughter is ill and has a fever.", "The child is sick, her temperature is high."},
		{"The train was forty minutes late.", "Rail service was badly delayed."},
		{"Bake the cake for an hour.", "How long does the dessert stay in the oven?"},
		{"He quit his job at the bank.", "The clerk resigned from work."},
	}},
	{"ja", [][2]string{
		{"ノートパソコンがスリープしないようにする。", "コンピューターを眠らせずに起動したままにするには？"},
		{"払い戻しは二週間以内に行います。", "お金は返してもらえますか。"},
		{"娘が病気で熱を出した。", "子どもの具合が悪く、体温が高い。"},
		{"電車が四十分遅れた。", "列車の到着が大幅に遅延した。"},
		{"ケーキを一時間焼く。", "デザートはオーブンにどのくらい入れておけばいい？"},
		{"彼は銀行を辞めた。", "その社員が退職した。"},
	}},
	{"zh", [][2]string{
		{"不要让笔记本电脑进入休眠。", "怎样使手提计算机一直保持唤醒？"},
		{"两周之内给顾客退款。", "我能把钱要回来吗？"},
		{"女儿生病了，正在发烧。", "孩子身体不舒服，体温很高。"},
		{"火车晚点了四十分钟。", "列车到站严重延误。"},
		{"蛋糕要烤一个小时。", "甜点在炉子里放多久？"},
		{"他辞去了银行的工作。", "那位职员离职了。"},
	}},
	{"ko", [][2]string{
		{"노트북이 절전 모드로 들어가지 않게 한다.", "컴퓨터를 계속 깨어 있게 하려면 어떻게 하나요?"},
		{"고객에게 이 주 안에 환불해 드립니다.", "돈을 돌려받을 수 있나요?"},
		{"딸이 병이 나서 열이 난다.", "아이가 몸이 안 좋고 체온이 높다."},
		{"기차가 사십 분 늦었다.", "열차 도착이 크게 지연되었다."},
		{"케이크를 한 시간 동안 굽는다.", "디저트를 오븐에 얼마나 넣어 두나요?"},
		{"그는 은행 일을 그만두었다.", "그 직원이 퇴사했다."},
	}},
	{"de", [][2]string{
		{"Der Laptop soll nicht in den Ruhezustand gehen.", "Wie bleibt mein Rechner wach?"},
		{"Die Erstattung erfolgt binnen zwei Wochen.", "Bekomme ich mein Geld wieder?"},
		{"Unsere Tochter ist krank und hat Fieber.", "Dem Kind geht es schlecht, die Temperatur ist hoch."},
		{"Der Zug kam vierzig Minuten zu spät.", "Die Bahn hatte große Verspätung."},
		{"Den Kuchen eine Stunde backen.", "Wie lange bleibt der Nachtisch im Ofen?"},
		{"Er hat bei der Bank gekündigt.", "Der Angestellte gab seine Stelle auf."},
	}},
	{"fr", [][2]string{
		{"Empêcher l'ordinateur portable de se mettre en veille.", "Comment garder mon PC éveillé ?"},
		{"Le remboursement a lieu sous deux semaines.", "Puis-je récupérer mon argent ?"},
		{"Notre fille est malade et a de la fièvre.", "L'enfant ne va pas bien, sa température est élevée."},
		{"Le train avait quarante minutes de retard.", "La rame est arrivée bien après l'heure prévue."},
		{"Faire cuire le gâteau une heure.", "Combien de temps le dessert reste-t-il au four ?"},
		{"Il a quitté son travail à la banque.", "L'employé a démissionné."},
	}},
	{"es", [][2]string{
		{"Evitar que el portátil entre en reposo.", "¿Cómo mantengo despierto mi ordenador?"},
		{"El reembolso se hace en dos semanas.", "¿Me pueden devolver el dinero?"},
		{"Nuestra hija está enferma y tiene fiebre.", "La niña se encuentra mal, con temperatura alta."},
		{"El tren llegó cuarenta minutos tarde.", "El ferrocarril sufrió un gran retraso."},
		{"Hornear el pastel durante una hora.", "¿Cuánto se deja el postre en la cocina caliente?"},
		{"Dejó su trabajo en el banco.", "El empleado renunció a su puesto."},
	}},
	{"it", [][2]string{
		{"Evitare che il portatile vada in sospensione.", "Come tengo sveglio il mio computer?"},
		{"Il rimborso avviene entro due settimane.", "Posso riavere i miei soldi?"},
		{"Nostra figlia è malata e ha la febbre.", "La bambina sta male, con temperatura alta."},
		{"Il treno è arrivato con quaranta minuti di ritardo.", "La ferrovia non rispettava l'orario."},
		{"Cuocere la torta per un'ora.", "Quanto resta il dolce in forno?"},
		{"Ha lasciato il lavoro in banca.", "L'impiegato si è dimesso."},
	}},
	{"pt", [][2]string{
		{"Evitar que o portátil entre em suspensão.", "Como mantenho o meu computador acordado?"},
		{"O reembolso é feito em duas semanas.", "Posso ter o meu dinheiro de volta?"},
		{"A nossa filha está doente e tem febre.", "A criança sente-se mal, com temperatura alta."},
		{"O comboio chegou quarenta minutos tarde.", "A ferrovia sofreu um grande atraso."},
		{"Assar o bolo durante uma hora.", "Quanto tempo fica a sobremesa no forno?"},
		{"Ele deixou o trabalho no banco.", "O empregado demitiu-se."},
	}},
	{"ru", [][2]string{
		{"Не давать ноутбуку переходить в спящий режим.", "Как сделать, чтобы компьютер не засыпал?"},
		{"Покупателям возвращают деньги в течение двух недель.", "Могу ли я получить возмещение?"},
		{"Наша дочь больна, у неё жар.", "Ребёнку плохо, высокая температура."},
		{"Поезд опоздал на сорок минут.", "Электричка прибыла с большой задержкой."},
		{"Выпекать торт один час.", "Сколько держать десерт в духовке?"},
		{"Он ушёл с работы в банке.", "Служащий уволился."},
	}},
}
