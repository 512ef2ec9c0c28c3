package dates

import "kioku/search/analysis"

// tongue contains the words of a language for days that depend on today. Words are separated by spaces, and an underscore stands for
// a space within one. They are found with and without their accents.
type tongue struct {
	language analysis.Language
	// days, and after each how many days ago it is, negative for the days ahead.
	days string
	// units of time, and after each its letter: d, w, e (weekend), m, y.
	units string
	// past, this and ahead are what goes with a unit or a weekday, before it or after it. ahead also has the words for every one.
	past, this, ahead string
	// ago says how "n units ago" is written, with # for both, and few are words for a small number.
	ago, few string
	// numbers from one on; of several words for one, the others follow after a bar.
	numbers string
	// weekdays from Monday on, in the same way. Those of unsure are also other words or names: they need a word beside them.
	weekdays, unsure string
	// on are words that lead to a weekday.
	on string
	// years and how many years ago each is.
	years string
}

// korean has no stemmer here, and so no constant in analysis. Its words are not separated from the particles after them.
const korean analysis.Language = "ko"

// tongues are the languages whose words are stemmed, beside English, and at the end Korean.
var tongues = []tongue{
	{
		language: analysis.German,
		days:     "heute 0 gestern 1 vorgestern 2 morgen -1 übermorgen -2",
		units: "tag d tage d tagen d woche w wochen w wochenende e monat m monats m monate m monaten m " +
			"jahr y jahres y jahre y jahren y",
		past:     "letzte letzten letzter letztes letztem vorige vorigen voriges vorigem vergangene vergangenen vergangenes",
		this:     "diese diesen dieser dieses diesem",
		ahead:    "nächste nächsten nächster nächstes nächstem kommende kommenden kommendes jede jeden jedes jeder",
		ago:      "vor_#_#",
		few:      "ein_paar einigen mehreren wenigen",
		numbers:  "ein|einem|einer zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
		weekdays: "montag dienstag mittwoch donnerstag freitag samstag|sonnabend sonntag",
		on:       "am",
	},
	{
		language: analysis.French,
		days:     "aujourd'hui 0 aujourd’hui 0 hier 1 avant-hier 2 demain -1 après-demain -2",
		units:    "jour d jours d semaine w semaines w week-end e weekend e mois m an y ans y année y années y",
		past:     "dernier dernière derniers passé passée",
		this:     "ce cet cette",
		ahead:    "prochain prochaine chaque",
		ago:      "il_y_a_#_#",
		few:      "quelques plusieurs",
		numbers:  "un|une deux trois quatre cinq six sept huit neuf dix onze douze",
		weekdays: "lundi mardi mercredi jeudi vendredi samedi dimanche",
	},
	{
		language: analysis.Spanish,
		days:     "hoy 0 ayer 1 anoche 1 anteayer 2 antes_de_ayer 2 antier 2 pasado_mañana -2",
		units:    "día d días d semana w semanas w fin_de_semana e mes m meses m año y años y",
		past:     "pasado pasada último última",
		this:     "este esta",
		ahead:    "próximo próxima que_viene cada",
		ago:      "hace_#_#",
		few:      "unos unas algunos algunas varios varias",
		numbers:  "un|una dos tres cuatro cinco seis siete ocho nueve diez once doce",
		weekdays: "lunes martes miércoles jueves viernes sábado domingo", unsure: "domingo",
		on: "el",
	},
	{
		language: analysis.Italian,
		days:     "oggi 0 ieri 1 avantieri 2 l'altro_ieri 2 l’altro_ieri 2 altroieri 2 domani -1 dopodomani -2",
		units:    "giorno d giorni d settimana w settimane w fine_settimana e mese m mesi m anno y anni y",
		past:     "scorso scorsa passato passata ultimo ultima",
		this:     "questo questa",
		ahead:    "prossimo prossima ogni",
		ago:      "#_#_fa",
		few:      "alcuni alcune qualche pochi poche",
		numbers:  "un|una due tre quattro cinque sei sette otto nove dieci undici dodici",
		weekdays: "lunedì martedì mercoledì giovedì venerdì sabato domenica", unsure: "domenica sabato",
	},
	{
		language: analysis.Portuguese,
		days:     "hoje 0 ontem 1 anteontem 2 antes_de_ontem 2 amanhã -1 depois_de_amanhã -2",
		units:    "dia d dias d semana w semanas w fim_de_semana e mês m meses m ano y anos y",
		past:     "passado passada último última",
		this:     "este esta neste nesta",
		ahead:    "próximo próxima que_vem cada toda todo",
		ago:      "há_#_#",
		few:      "alguns algumas vários várias uns umas",
		numbers:  "um|uma dois|duas três quatro cinco seis sete oito nove dez onze doze",
		weekdays: "segunda-feira|segunda terça-feira|terça quarta-feira|quarta quinta-feira|quinta sexta-feira|sexta sábado domingo",
		unsure:   "segunda terça quarta quinta sexta domingo",
		on:       "no",
	},
	{
		language: analysis.Dutch,
		days:     "vandaag 0 gisteren 1 eergisteren 2 overmorgen -2",
		units:    "dag d dagen d week w weken w weekend e weekeinde e maand m maanden m jaar y jaren y",
		past:     "vorig vorige afgelopen",
		this:     "deze dit",
		ahead:    "volgend volgende komend komende elke elk iedere ieder",
		ago:      "#_#_geleden",
		few:      "een_paar enkele enige",
		numbers:  "een|één twee drie vier vijf zes zeven acht negen tien elf twaalf",
		weekdays: "maandag dinsdag woensdag donderdag vrijdag zaterdag zondag",
		on:       "op",
	},
	{
		language: analysis.Swedish,
		days:     "idag 0 i_dag 0 igår 1 i_går 1 förrgår 2 i_förrgår 2 imorgon -1 i_morgon -1 övermorgon -2",
		units: "dag d dagar d dagarna d vecka w veckan w veckor w helg e helgen e månad m månaden m månader m " +
			"år y året y",
		past:    "förra senaste",
		this:    "denna den_här det_här",
		ahead:   "nästa kommande varje på",
		ago:     "för_#_#_sedan",
		few:     "några flera",
		numbers: "en|ett två tre fyra fem sex sju åtta nio tio elva tolv",
		weekdays: "måndag|måndags|måndagen tisdag|tisdags|tisdagen onsdag|onsdags|onsdagen torsdag|torsdags|torsdagen " +
			"fredag|fredags|fredagen lördag|lördags|lördagen söndag|söndags|söndagen",
		on: "i",
	},
	{
		language: analysis.Russian,
		days:     "сегодня 0 вчера 1 позавчера 2 завтра -1 послезавтра -2",
		units: "день d дня d дней d неделя w неделю w недели w недель w неделе w выходные e выходных e месяц m месяца m месяцев m " +
			"месяце m год y года y году y лет y",
		past:     "прошлый прошлая прошлую прошлой прошлом прошлое прошлые прошлых",
		this:     "этот эта эту этой этом это эти этих",
		ahead:    "следующий следующую следующей следующем каждый каждую каждое каждые",
		ago:      "#_#_назад",
		few:      "несколько",
		numbers:  "один|одну два|две три четыре пять шесть семь восемь девять десять",
		weekdays: "понедельник вторник среда|среду четверг пятница|пятницу суббота|субботу воскресенье",
		unsure:   "среда среду",
		on:       "в во",
	},
	{
		language: korean,
		days:     "오늘 0 어제 1 어젯밤 1 그저께 2 그제 2 엊그제 2 내일 -1 모레 -2",
		units:    "일 d 주 w 주일 w 주말 e 달 m 개월 m 년 y 해 y",
		past:     "지난 저번",
		this:     "이번",
		ahead:    "다음 매주 매",
		ago:      "##_전",
		few:      "몇",
		numbers:  "한|일 두|이 세|삼 네|사",
		years:    "올해 0 작년 1 지난해 1 재작년 2",
		weekdays: "월요일 화요일 수요일 목요일 금요일 토요일 일요일",
	},
}
