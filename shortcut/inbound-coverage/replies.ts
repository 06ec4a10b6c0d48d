/**
 * One-word replies that people text: yes and no, agreement, thanks, stopping, numbers, days, times, greetings. The
 * lists were written for this measurement; each language has the same weight.
 */
export const replies = {
  English: `Yes No Ok Okay K Yep Yeah Nope Sure Fine Thanks Thx Ty Great Perfect Cool Good Done Stop Quit Help Start Hi Hello Hey
    Bye Sorry Maybe Later Today Tomorrow Tonight Monday Tuesday Friday Sunday Noon One Two Three Seven Why What Who Hmm Lol`,
  German: `Ja Nein Jo Nö Nee Ok Okay Gut Prima Super Passt Klar Gerne Danke Dankeschön Bitte Stopp Stop Ende Hilfe Start Hallo Hi
    Servus Moin Tschüss Sorry Vielleicht Später Heute Morgen Übermorgen Montag Dienstag Freitag Sonntag Mittags Eins Zwei Drei
    Fünf Zwölf Wann Warum Wer Hm`,
  French: `Oui Non Ouais Ok Bien Bon Super Parfait Merci Mrc Mercii Stop Fin Aide Salut Bonjour Bonsoir Coucou Bisous Ciao Désolé
    Peut-être Tard Demain Lundi Mardi Mercredi Jeudi Vendredi Samedi Dimanche Midi Minuit Un Deux Trois Six Dix Vingt Quand
    Pourquoi Qui Quoi Bof Mdr D'accord`,
  Spanish: `Sí Si No Ok Vale Bueno Bien Claro Perfecto Genial Gracias Grax Alto Basta Baja Parar Ayuda Hola Buenas Adiós Chau
    Perdón Quizás Luego Hoy Mañana Lunes Martes Miércoles Jueves Viernes Sábado Domingo Mediodía Uno Dos Tres Cuatro Seis Diez
    Cuándo Qué Quién Mmm Jaja Dale`,
  Italian: `Sì Si No Ok Va Bene Certo Perfetto Ottimo Grazie Grz Stop Basta Aiuto Ciao Salve Buongiorno Buonasera Arrivederci Scusa
    Forse Dopo Oggi Domani Lunedì Martedì Mercoledì Giovedì Venerdì Sabato Domenica Mezzogiorno Uno Due Tre Quattro Sei Dieci
    Venti Quando Perché Chi Cosa Boh Mmh Idem`,
  Portuguese: `Sim Não Nao N S Ok Tá Bom Ótimo Claro Certo Perfeito Obrigado Obrigada Obg Vlw Pare Parar Sair Ajuda Oi Olá Tchau
    Adeus Desculpa Talvez Depois Hoje Amanhã Segunda Terça Quarta Quinta Sexta Sábado Domingo Um Dois Três Quatro Dez Quando Quê
    Quem Hum Rsrs`,
  Dutch: `Ja Nee Jawel Ok Oké Goed Prima Top Zeker Graag Dank Dankje Bedankt Thnx Stop Stoppen Einde Hulp Hoi Hallo Dag Doei Sorry
    Misschien Straks Vandaag Morgen Overmorgen Maandag Dinsdag Woensdag Vrijdag Zondag Middag Een Twee Drie Vier Vijf Zes Zeven
    Wanneer Waarom Wie Wat Hmm`,
  Polish: `Tak Nie Ok Okej Dobrze Dobra Super Pewnie Jasne Dzięki Dziękuję Dzk Stop Koniec Wypisz Pomoc Cześć Hej Siema Witam Pa
    Przepraszam Może Potem Dziś Dzisiaj Jutro Poniedziałek Wtorek Środa Czwartek Piątek Sobota Niedziela Południe Jeden Dwa Trzy
    Cztery Pięć Kiedy Czemu Kto Co Hmm Spk`,
  Turkish: `Evet Hayır Yok Var Tamam Ok Peki Olur Olmaz Süper Güzel Tabii Sağol Teşekkürler Tşk Dur Durdur Ret Bitti Yardım Selam
    Merhaba Slm Günaydın Hoşçakal Pardon Belki Sonra Bugün Yarın Pazartesi Salı Çarşamba Perşembe Cuma Pazar Öğlen Bir İki Üç
    Dört Yüz Niçin Kim Ne Hmm`,
  Russian: `Да Нет Ок Ага Угу Неа Хорошо Ладно Супер Отлично Конечно Спасибо Спс Стоп Хватит Помощь Привет Здравствуйте Пока
    Извините Может Потом Сегодня Завтра Послезавтра Понедельник Вторник Среда Четверг Пятница Суббота Воскресенье Полдень Один
    Два Три Пять Семь Десять Когда Почему Кто Что Хм Ку Чао`,
  Digits: '0 1 2 3 4 5 6 7 8 9 10 11 12 15 18 20 24 30 45 50 100 14:00 9:30 2024 +1 1. 2) #3 50% 16h',
  'Emoji and signs':
    '👍 👎 ❤️ 😂 😊 🙏 👌 ✅ ❌ 🎉 😢 🔥 💯 🤔 👋 ☺️ 😘 🤷 ✌️ 💪 👍🏽 👨‍👩‍👧 🇩🇪 ? ! … .. ?? !! :)',
} as const satisfies Readonly<Record<string, string>>;

export type ReplyGroup = keyof typeof replies;

export function repliesOf(group: ReplyGroup): readonly string[] {
  return replies[group].split(/\s+/);
}
