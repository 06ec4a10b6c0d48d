/** So long may a URL be that requests go to (specification section 6.5): where it is given, and wherever it leads. */
export const urlMaxCharacters = 2_048;
