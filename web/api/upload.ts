import { ApiError, readAnswer, readError } from './api-answer.ts';
import { basePath } from './base-path.ts';
import { texts } from './texts.ts';

/**
 * Sends a file as the body of a POST. XMLHttpRequest reports the progress, fetch does not.
 * @param path below APP_URL
 * @param onProgress gets the part that was sent, 0 to 1
 * @throws ApiError for an answer that is not 2xx, and for a failed connection (status 0)
 */
export async function upload<Answer>(
  path: string,
  file: Blob,
  onProgress: (part: number) => void,
  signal: AbortSignal,
): Promise<Answer> {
  const call = new XMLHttpRequest();
  await new Promise((resolve, reject) => {
    call.upload.onprogress = ({ loaded, total }) => onProgress(loaded / total);
    call.onload = resolve;
    call.onabort = reject;
    call.onerror = () => reject(new ApiError(0, { code: 'unreachable', message: texts.unreachable }));
    signal.addEventListener('abort', () => call.abort());
    call.open('POST', `${basePath}${path}`);
    call.send(file);
  });
  const { status, responseText } = call;
  if (status >= 200 && status < 300) return readAnswer(status, responseText) as Answer;
  throw new ApiError(
    status,
    readError(responseText),
    Number(call.getResponseHeader('retry-after')) || undefined,
  );
}
