/** The path of APP_URL without a trailing slash, which the server writes into the page; '' without a path. */
export const basePath = document.documentElement.dataset.base ?? '';
