import { Field as BaseField } from '@base-ui/react/field';
import { Form as BaseForm } from '@base-ui/react/form';
import type { ComponentProps, ReactNode } from 'react';
import { ApiError } from '#web/api/request.ts';
import { classNames } from './class-names.ts';
import { ErrorNote } from './error-note.tsx';
import { inputStyle } from './input-style.ts';

/**
 * A form for an API operation. An error is shown at the field that it names, otherwise above the buttons.
 * @param fields the fields' names, which are the parameters of the operation
 */
export function Form({
  error,
  fields,
  onSubmit,
  id,
  className,
  children,
}: {
  readonly error: Error | null;
  readonly fields: readonly string[];
  readonly onSubmit: (values: Readonly<Record<string, string>>) => void;
  readonly id?: string;
  readonly className?: string;
  readonly children: ReactNode;
}): ReactNode {
  const param = error instanceof ApiError && fields.includes(error.param ?? '') ? error.param : undefined;
  return (
    <BaseForm
      id={id}
      className={classNames('flex flex-col gap-4', className)}
      errors={param === undefined ? {} : { [param]: withoutName(error?.message ?? '', param) }}
      onFormSubmit={(values) => onSubmit(values as Readonly<Record<string, string>>)}
    >
      {children}
      {error && param === undefined && (
        <div ref={scrollIntoView}>
          <ErrorNote error={error} />
        </div>
      )}
    </BaseForm>
  );
}

/** Changes the API's `email must be …` to `It must be …`, because the message is below its field. */
function withoutName(message: string, param: string): string {
  return message.startsWith(`${param} `) ? `It${message.slice(param.length)}` : message;
}

/** Scrolls an error into view, because the end of a long form may be hidden. */
function scrollIntoView(element: HTMLElement | null): void {
  element?.scrollIntoView({ block: 'nearest' });
}

export function TextField({
  name,
  label,
  hint,
  className,
  isLabelHidden = false,
  isLong = false,
  ...input
}: Omit<ComponentProps<typeof BaseField.Control>, 'className'> & {
  readonly name: string;
  readonly label: string;
  readonly hint?: ReactNode;
  readonly className?: string;
  /** Hides the label from view, where a heading has the same text. */
  readonly isLabelHidden?: boolean;
  /** Whether the text may have several lines. */
  readonly isLong?: boolean;
}): ReactNode {
  return (
    <BaseField.Root name={name} className={classNames('group/field flex flex-col gap-1.5', className)}>
      <BaseField.Label className={isLabelHidden ? 'sr-only' : 'font-medium'}>{label}</BaseField.Label>
      <BaseField.Control
        className={classNames(inputStyle, isLong && 'h-auto py-2 max-sm:h-auto')}
        render={isLong ? <textarea rows={3} /> : undefined}
        autoComplete="off"
        {...input}
      />
      {hint !== undefined && (
        <BaseField.Description className="text-[0.8125rem] text-quiet group-data-invalid/field:hidden">
          {hint}
        </BaseField.Description>
      )}
      {/* The error element has no children: with children it would not show the server's error. */}
      <BaseField.Error className="text-[0.8125rem] text-bad-ink" />
    </BaseField.Root>
  );
}
