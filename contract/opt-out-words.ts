/**
 * Keywords that opt out (specification section 4.6): as the whole of an inbound text, a keyword opts its sender out. Each
 * language has the words for STOP, STOPALL, UNSUBSCRIBE, QUIT, END, REVOKE and OPT OUT that mean nothing else as an
 * answer. Words for "cancel" are missing on purpose, because they answer appointments; so are words that another language
 * uses for something else, such as FINE, ALTO, SON and DUR.
 */
export const optOutWords = {
  English: ['STOP', 'STOP ALL', 'UNSUBSCRIBE', 'QUIT', 'END', 'REVOKE', 'OPT OUT'],
  German: ['STOPP', 'ABMELDEN', 'ABBESTELLEN', 'AUFHÖREN', 'AUFHOEREN', 'BEENDEN', 'WIDERRUFEN', 'AUSTRAGEN'],
  French: [
    'ARRÊT',
    'ARRET',
    'ARRÊTER',
    'ARRETER',
    'DÉSABONNER',
    'DESABONNER',
    'DÉSINSCRIRE',
    'DESINSCRIRE',
    'RÉVOQUER',
    'REVOQUER',
  ],
  Spanish: ['PARAR', 'DETENER', 'BAJA', 'DARSE DE BAJA', 'REVOCAR'],
  Italian: ['BASTA', 'DISISCRIVI', 'DISISCRIVIMI', 'DISISCRIVERSI', 'REVOCA'],
  Portuguese: ['PARE', 'PARAR', 'SAIR', 'DESCADASTRAR', 'REVOGAR'],
  Dutch: ['STOPPEN', 'AFMELDEN', 'UITSCHRIJVEN', 'BEËINDIGEN', 'BEEINDIGEN', 'INTREKKEN'],
  Polish: ['ZATRZYMAJ', 'WYPISZ', 'WYPISZ MNIE', 'KONIEC', 'ODWOŁAJ ZGODĘ', 'ODWOLAJ ZGODE'],
  Turkish: [
    'DURDUR',
    'RET',
    'ABONELİKTEN ÇIK',
    'ABONELİKTEN CIK',
    'LİSTEDEN ÇIK',
    'LİSTEDEN CIK',
    'İZNİMİ İPTAL ET',
  ],
  Swedish: ['STOPPA', 'AVSLUTA', 'AVREGISTRERA', 'AVPRENUMERERA', 'ÅTERKALLA'],
  Danish: ['AFMELD', 'FRAMELD', 'AFSLUT', 'TILBAGEKALD'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/**
 * An inbound text that is exactly one of these words opts its sender in again. There are no translations: a wrong opt-in
 * does more harm than a missing one, and these two are known everywhere.
 */
export const optInWords = ['START', 'UNSTOP'] as const;
