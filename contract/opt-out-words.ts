/**
 * Opt-out keywords (specification section 4.6): an inbound text that consists of one opts its sender out. Each language
 * has words for STOP, STOPALL, UNSUBSCRIBE, QUIT, END, REVOKE and OPT OUT, unless they are common answers to other
 * questions. Words for "cancel" are missing on purpose, because people answer appointments with them. Words that mean
 * something else in another language are missing, too, such as FINE, ALTO, SON and DUR.
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
 * Opt-in keywords: an inbound text that consists of one opts its sender in again. The words are not translated, because
 * a wrong opt-in does more harm than a missing one.
 */
export const optInWords = ['START', 'UNSTOP'] as const;
