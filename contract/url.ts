/** The longest URL that a request may give, and that an outgoing request is sent to (specification section 6.5). */
export const urlMaxCharacters = 2_048;
