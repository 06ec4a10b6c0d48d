export const listLimitMax = 100;

export const listLimitDefault = 50;
