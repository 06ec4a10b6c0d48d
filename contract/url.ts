/** The longest URL of webhooks and media that the server accepts and requests (specification section 6.5). */
export const urlMaxCharacters = 2_048;
