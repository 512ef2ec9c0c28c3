package analysis

// functionWords are the words from which the sentences and questions of a language are built, without accents. They say
// nothing about the subject of a query.
var functionWords = map[Language]string{
	German: `
der die das den dem des ein eine einen einem einer eines und oder aber sondern denn doch weil dass ob wenn als wie wo wer
was wann warum wieso wohin woher welche welcher welches welchen welchem wen wem ich du er sie es wir ihr mich dich sich uns
euch ihm ihn ihnen mir dir mein meine meinen meinem meiner dein deine deinen sein seine seinen seinem seiner ihre ihren ihrem
ihrer unser unsere unseren unserem unserer euer eure dieser diese dieses diesen diesem jener jede jeder jedes jeden jedem alle
allen aller alles kein keine keinen keinem keiner nicht nichts nie noch nur auch schon sehr mehr so da dann hier dort nun
jetzt immer wieder man ist sind bin bist seid war waren wurde wurden worden werden wird werde habe haben hat hatte hatten
kann konnen konnte konnten muss mussen musste soll sollen sollte sollten will wollen wollte darf durfen mag mochte mochten
in im an am auf aus bei beim mit nach von vom vor zu zum zur uber unter durch fur gegen ohne um bis seit wahrend wegen
zwischen ins etwas viel viele wenig einige andere anderen selbst also damit davon dazu darauf dabei ueber fuer koennen
koennte muessen waehrend wurd hab konntest machen macht gibt`,
	French: `
le la les l un une des du de d au aux a et ou mais donc ni que qu qui quoi dont quand comment pourquoi combien quel quelle
quels quelles lequel laquelle je j tu il elle on nous vous ils elles me m te t se s moi toi lui leur leurs eux y en mon ma
mes ton ta tes son sa ses notre nos votre vos ce c cet cette ces cela ca ceci celui celle ceux celles est sont suis es
sommes etes etait etaient etre ete fut sera seront serait ai as avons avez ont avait avaient avoir eu aura fait faire fais
font peut peuvent peux pouvons pouvez doit doivent dois faut va vont dans par pour sur sous avec sans entre vers chez
depuis pendant avant apres contre selon ne n pas plus moins tres trop aussi bien encore deja toujours jamais rien tout tous
toute toutes autre autres meme memes si comme alors ainsi ici puis lorsque parce quelque quelques chaque plusieurs aucun
aucune afin lors etant`,
	Spanish: `
el la los las un una unos unas lo al del de a ante bajo con contra desde durante en entre hacia hasta para por segun sin
sobre tras y e o u ni pero sino aunque porque que si como cuando donde quien quienes cual cuales cuanto cuanta cuantos
cuantas cuyo cuya yo tu ella nosotros nosotras vosotros ellos ellas usted ustedes me te se nos os le les mi mis tus su sus
nuestro nuestra nuestros nuestras este esta estos estas ese esa esos esas aquel aquella esto eso aquello ser es soy eres
somos son era eran fue fueron sido siendo estar estoy estamos estan estaba estaban estuvo hay haber he has ha hemos han
habia habian hubo tener tengo tiene tienen tenemos tenia hacer hago hace hacen hacemos hizo hecho puede pueden puedo podemos
debe deben debo muy mas menos ya no tambien tampoco solo aun todavia siempre nunca ahora entonces asi aqui alli ahi todo
toda todos todas otro otra otros otras cada mismo misma algo nada nadie alguien alguno alguna algunos algunas mucho mucha
muchos muchas poco pocos tan tanto`,
	Italian: `
il lo la i gli le un uno una l d di a da in con su per tra fra del dello della dei degli delle al allo alla ai agli alle dal
dallo dalla dai dagli dalle nel nello nella nei negli nelle sul sullo sulla sui sugli sulle e ed o od ma anche se che chi cui
cosa come quando dove perche quale quali quanto quanta quanti quante io tu lui lei noi voi loro mi ti si ci vi ne me te mio
mia miei mie tuo tua tuoi suo sua suoi sue nostro nostra nostri nostre vostro vostra questo questa questi queste quello
quella quelli quelle cio sono sei siamo siete era erano fu stato stata stati state essere ho hai ha abbiamo avete hanno
aveva avevano avere fa fare fatto puo possono posso possiamo deve devono devo dobbiamo non piu meno molto molti poco tutto
tutta tutti tutte altro altra altri altre ogni stesso gia ancora sempre mai solo qui qua adesso poi cosi quindi pero dopo
prima senza sotto sopra verso qualche nessuno niente nulla dell all dall nell sull quest c e`,
	Portuguese: `
o a os as um uma uns umas de do da dos das em no na nos nas num numa ao aos pelo pela pelos pelas por para pra com sem sob
sobre entre ate desde apos contra e ou mas nem que se como quando onde quem qual quais quanto quanta quantos quantas porque
eu tu ele ela vos eles elas voce voces me te lhe lhes meu minha meus minhas teu tua seu sua seus suas nosso nossa nossos
nossas este esta estes estas esse essa esses essas aquele aquela isto isso aquilo ser sou somos sao era eram foi foram sido
sendo estar estou estamos estao estava estavam ter tenho tem temos tinha tinham ha havia fazer faz fazem fazemos fez feito
pode podem posso podemos deve devem nao sim tambem so ja ainda sempre nunca agora entao assim aqui ali muito muita muitos
muitas pouco mais menos todo toda todos todas outro outra outros outras cada mesmo mesma algo nada ninguem alguem algum
alguma alguns algumas deste desta disso neste nesta nisso dele dela deles delas`,
	Dutch: `
de het een en of maar want dus omdat dat die dit deze daar hier er ik jij je u hij zij ze wij we jullie hun hen mij me jou
hem haar ons onze mijn jouw zijn is ben bent was waren geweest word wordt worden werd werden heb hebt heeft hebben had hadden
kan kunnen kon konden moet moeten moest zal zullen zou zouden wil willen wilde mag mogen doen doet deed gedaan gaat gaan ging
in op aan van voor met bij uit naar tot door over onder tussen tegen zonder om te ten ter sinds tijdens na niet geen niets
nooit nog al ook wel zo dan toen nu altijd vaak weer meer veel weinig alle alles iets iemand niemand elke elk ieder andere
ander zelf als wat wie waar wanneer waarom hoe welke welk hoeveel toch heel zeer`,
	Swedish: `
och eller men att det den de en ett ej inte som om nar vad vem vilka vilken vilket varfor hur jag du han hon vi ni dem mig
dig sig oss er honom henne min mitt mina din ditt dina sin sitt sina var vart vara deras hans hennes dess denna detta dessa
ar varit bli blir blev blivit har hade haft ha kan kunde ska skall skulle vill ville maste far fick gor gjorde gjort i pa av
till fran med for vid under over efter fore innan genom mellan mot utan sedan hos inom ur upp ner ut in nu da dar aldrig
alltid ofta ocksa bara mycket mer mest mindre nagon nagot nagra ingen inget inga alla allt annan annat andra varje samma sa
dock eftersom darfor finns nagonting`,
	Russian: `
и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее мне было вот от меня еще нет о из
ему когда даже ли если уже или ни быть был него до вас вам ведь там потом себя ей может они тут где есть надо ней для мы
тебя их чем была сам чтоб без чего тоже себе под будет тогда кто этот того потому этого какой какая какие каком какую ним
здесь этом мой тем чтобы нее сейчас были куда зачем почему сколько всех можно при об после над тот через эти нас про всего
них эту моя свою этой перед том такой им более всегда между это нам мной свой наш наша наши наше которые который которая
которое которого которых`,
}
