/** The path of APP_URL, without a slash at its end; '' where it has none. The server writes it into the page. */
export const basePath = document.documentElement.dataset.base ?? '';
